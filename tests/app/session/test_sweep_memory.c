/* After each cell of a sweep the process is as it was: what a run held in memory, threads and files is given back before the
 * next begins, whether it came to its end, did not fit or failed. (reference/ecosystem.md, row 12 of section 2.) */
#include "tests/app/session/work.h"

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#define MIB (1024 * 1024L)
enum { CELLS = 12 };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const bool frees_late = true; /* sanitizers keep freed memory for a while */
#define BATCH "400"
#else
static const bool frees_late = false;
#define BATCH "40000"
#endif

static long resident_bytes(void)
{
    long pages = 0;
    malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static int entries_count(const char *folder)
{
    int count = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    while (readdir(list))
        count++;
    closedir(list);
    return count;
}

/* A thread that was joined may stand in the list for a moment. */
static bool threads_come_to(int most)
{
    for (int tries = 0; tries < 2000; tries++) {
        if (entries_count("/proc/self/task") <= most)
            return true;
        usleep(10000);
    }
    return false;
}

struct held {
    long bytes;
    int threads, files;
};

static struct held held_now(void)
{
    return (struct held){.bytes = resident_bytes(),
                         .threads = entries_count("/proc/self/task"),
                         .files = entries_count("/proc/self/fd")};
}

/* One cell: every third does not fit, every fourth is said to have failed. Returns the bytes of its arenas. */
static int64_t cell_run(struct work *work, int number)
{
    static const char *const fits[] = {"gpus", "2", "batch", BATCH, NULL};
    static const char *const does_not[] = {"gpus", "2", "batch", BATCH, "gpu_memory", "4KiB", NULL};
    struct script_point point = {.sweep = "memory",
                                 .sweep_settings = "{}",
                                 .settings = "{}",
                                 .digest = "x",
                                 .point = number,
                                 .order_seed = -1};
    struct script_open_request request = work_request(work, number % 3 == 2 ? does_not : fits);
    struct script_session *session = NULL;
    struct script_figures figures;
    struct mgb_memory_use uses[8];
    int count = 0;
    int64_t held = 0;
    request.point = &point;
    request.expect_oom = true;
    enum mgb_status status = work->services.open(work->hub, &session, &request);
    assert_int_equal(status, number % 3 == 2 ? MGB_OOM : MGB_OK);
    if (status != MGB_OK)
        return 0;
    assert_ok(work_step(work, session, 1, &figures));
    assert_ok(mgb_run_memory(work->services.engine(session), uses, 8, &count));
    for (int i = 0; i < count; i++)
        held += uses[i].held_bytes;
    if (number % 4 == 3)
        mgb_hub_fail(work->hub, "it failed");
    work->services.close(session);
    return held;
}

static void memory_is_back_after_each_cell(void **state)
{
    struct work work = {0};
    struct held first = {0};
    int64_t arenas_first = 0;
    work_open(&work, *state);
    for (int number = 0; number < CELLS; number++) {
        int64_t arenas = cell_run(&work, number);
        struct held now = held_now();
        if (number == 0) {
            first = now; /* libraries have loaded what they keep */
            arenas_first = arenas;
            assert_true(frees_late || arenas > 8 * MIB);
        }
        assert_true(threads_come_to(first.threads));
        assert_int_equal(now.files, first.files);
        /* less than the arenas of one of the cells since */
        if (!frees_late)
            assert_true(now.bytes - first.bytes < arenas_first);
    }
    work_close(&work);
    char text[64];
    assert_string_equal(
        database_text(text, sizeof text, *state,
                      "SELECT group_concat(n, ' ') FROM (SELECT count(*) AS n FROM run "
                      "GROUP BY outcome ORDER BY outcome)"),
        "2 6 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_is_back_after_each_cell, database_setup,
                                        database_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
