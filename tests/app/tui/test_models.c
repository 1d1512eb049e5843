/* The menu of models over a workbench: a model file that comes later is in it, and no folder is read by who draws. */
#include "app/tui/screen.h"
#include "app/tui/screen_private.h"
#include "tests/app/session/workbench/bench.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_t screens;
static _Atomic int read_here;

/* Whoever lists a folder comes by here. */
int scandir(const char *path, struct dirent ***out, int (*passes)(const struct dirent *),
            int (*order)(const struct dirent **, const struct dirent **))
{
    static const char later[] = "later.lua";
    read_here += pthread_equal(pthread_self(), screens);
    struct dirent **entries = calloc(1, sizeof *entries);
    char file[500];
    (void)order;
    *out = entries;
    snprintf(file, sizeof file, "%s/%s", path, later);
    if (!entries || access(file, F_OK) != 0)
        return 0;
    entries[0] = calloc(1, sizeof **entries);
    strcpy(entries[0]->d_name, later);
    return passes(entries[0]);
}

struct fixture {
    struct bench bench;
    struct tui_screen *screen;
    char folder[400], file[500];
    const char *path[1];
};

static void begin(struct fixture *f, const char *database)
{
    snprintf(f->folder, sizeof f->folder, "%s.models", database);
    assert_int_equal(mkdir(f->folder, 0700), 0);
    snprintf(f->file, sizeof f->file, "%s/models", f->folder);
    assert_int_equal(mkdir(f->file, 0700), 0);
    strcat(f->file, "/later.lua");
    struct mgb_workbench_options options = bench_options(&f->bench, database);
    f->path[0] = f->folder;
    options.lua_path = f->path;
    options.lua_path_count = 1;
    bench_open_with(&f->bench, &options);
    struct tui_screen_options screen = {.workbench = f->bench.at, .utf8 = true};
    assert_ok(tui_screen_make(&f->screen, &screen));
    screens = pthread_self();
    atomic_store(&read_here, 0);
}

static void end(struct fixture *f)
{
    tui_screen_free(f->screen);
    bench_close(&f->bench);
    unlink(f->file);
    *strrchr(f->file, '/') = '\0';
    rmdir(f->file);
    rmdir(f->folder);
}

static bool offers(const struct fixture *f, const char *label)
{
    const struct tui_menu *menu = &f->screen->menu;
    for (int i = 0; i < menu->count; i++)
        if (strcmp(menu->choices[i].label, label) == 0)
            return true;
    return false;
}

static void a_model_file_that_comes_later_is_in_the_open_menu(void **state)
{
    struct fixture f;
    begin(&f, *state);
    tui_screen_key(f.screen, 'M', 1);
    assert_true(f.screen->menu.open);
    assert_false(offers(&f, "later"));
    tui_screen_key(f.screen, TUI_KEY_ESCAPE, 2);
    fclose(fopen(f.file, "w"));
    tui_screen_key(f.screen, 'M', 3);
    for (int i = 0; i < 12000 && !offers(&f, "later"); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        tui_screen_refresh(f.screen, 4 + i);
    }
    assert_true(offers(&f, "later"));
    assert_true(offers(&f, "other..."));
    assert_int_equal(atomic_load(&read_here), 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_model_file_that_comes_later_is_in_the_open_menu,
                                        database_setup, database_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
