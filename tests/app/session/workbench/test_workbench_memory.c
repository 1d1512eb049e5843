/* A workbench that has no memory for what is to be noted, and files that it writes over. */
#include "tests/app/session/workbench/await.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_bool none;

/* The one of the C library, unless there is to be no memory. */
FILE *open_memstream(char **text, size_t *size)
{
    FILE *(*real)(char **, size_t *) =
        (FILE * (*)(char **, size_t *)) dlsym(RTLD_NEXT, "open_memstream");
    return atomic_load(&none) ? NULL : real(text, size);
}

static void a_change_that_could_not_be_noted_is_told_when_it_is_saved(void **state)
{
    struct bench bench;
    char path[400];
    bench_open_running(&bench, *state);
    bench_pause(&bench);
    atomic_store(&none, true);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "batch=2"));
    bench_await_state(&bench, MGB_BENCH_PAUSED);
    atomic_store(&none, false);
    snprintf(path, sizeof path, "%s.lua", (const char *)*state);
    assert_ok(bench_ask(&bench, MGB_WISH_SAVE, path));
    bench_await_log(&bench, "this session cannot be repeated: memory was exhausted");
    assert_int_not_equal(access(path, F_OK), 0);
    bench_close(&bench);
}

static void file_starts_with(const char *path, const char *words)
{
    char text[100] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_int_equal(strncmp(text, words, strlen(words)), 0);
}

static void the_old_script_stays_until_the_new_one_is_whole(void **state)
{
    struct bench bench;
    char path[400], again[420], partial[420];
    bench_open_running(&bench, *state);
    snprintf(path, sizeof path, "%s it's.lua", (const char *)*state);
    snprintf(again, sizeof again, "%s!", path);
    snprintf(partial, sizeof partial, "%s.partial", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("-- the old one\n", file);
    fclose(file);
    assert_int_equal(symlink("/dev/full", partial), 0); /* a disk without room */
    assert_ok(bench_ask(&bench, MGB_WISH_SAVE, again));
    bench_await_log(&bench, "No space left on device");
    file_starts_with(path, "-- the old one");
    unlink(partial);
    assert_ok(bench_ask(&bench, MGB_WISH_SAVE, again));
    bench_await_log(&bench, "it'\\''s.lua' repeats this session"); /* for a shell */
    file_starts_with(path, "-- A session of mgbench");
    bench_close(&bench);
    unlink(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_change_that_could_not_be_noted_is_told_when_it_is_saved),
        TEST(the_old_script_stays_until_the_new_one_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
