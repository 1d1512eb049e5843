/* Saving as a whole or not at all: whatever goes wrong, the old files are as they were and nothing is left beside them. */
#include "engine/base/memory.h"
#include "engine/io/replace.h"
#include "tests/engine/io/rig.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct kept { /* the two files of "w" */
    unsigned char *bytes[2];
    size_t sizes[2];
};

static const char *const names[2] = {"w", "w.optimizer.safetensors"};

static struct kept files_keep(void)
{
    struct kept kept;
    for (int i = 0; i < 2; i++)
        kept.bytes[i] = io_read(io_path(names[i]), &kept.sizes[i]);
    return kept;
}

/* As they were, and nothing else in the folder. */
static void assert_kept(const struct kept *kept)
{
    for (int i = 0; i < 2; i++) {
        size_t size;
        unsigned char *now = io_read(io_path(names[i]), &size);
        assert_int_equal(size, kept->sizes[i]);
        assert_memory_equal(now, kept->bytes[i], size);
        free(now);
    }
    assert_int_equal(io_count(), 2);
}

static void kept_done(struct kept *kept)
{
    free(kept->bytes[0]);
    free(kept->bytes[1]);
}

static struct io_model mlp(int seed)
{
    return io_model_make(model_mlp(), MGB_ADAM, seed);
}

static int files_remove(void **state)
{
    io_folder_remove(state);
    return mkdir(io_folder, 0700);
}

static void a_device_that_fails_on_the_way_leaves_the_old_files(void **state)
{
    struct io_model a = mlp(1), b = mlp(2);
    (void)state;
    assert_ok(io_save(&a, io_path("w")));
    struct kept kept = files_keep();
    for (b.fail_read_at = 1; b.fail_read_at <= 12; b.fail_read_at++) {
        assert_status(io_save(&b, io_path("w")), MGB_DEVICE);
        assert_message("save: a device went away");
        assert_kept(&kept);
    }
    assert_ok(io_save(&b, io_path("w")));
    assert_ok(io_load(&a, io_path("w"), NULL, NULL));
    io_assert_equal(&a, &b, true);
    kept_done(&kept);
    io_model_done(&a);
    io_model_done(&b);
}

/* A limit of file sizes stands for a full disk: the larger, second file meets it. */
static void a_full_disk_leaves_the_old_files(void **state)
{
    struct io_model a = mlp(1), b = mlp(2);
    struct rlimit usual, small;
    (void)state;
    assert_ok(io_save(&a, io_path("w")));
    struct kept kept = files_keep();
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    for (int i = 0; i < 2; i++) {
        small = usual;
        small.rlim_cur = (rlim_t)kept.sizes[i] - 4;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        enum mgb_status status = io_save(&b, io_path("w"));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
        assert_int_equal(status, MGB_IO);
        assert_message("what was there before is untouched");
        assert_message("File too large");
        assert_kept(&kept);
    }
    kept_done(&kept);
    io_model_done(&a);
    io_model_done(&b);
}

static void exhausted_memory_leaves_the_old_files(void **state)
{
    struct io_model a = mlp(1), b = mlp(2);
    enum mgb_status status = MGB_NO_MEMORY;
    (void)state;
    assert_ok(io_save(&a, io_path("w")));
    struct kept kept = files_keep();
    for (int n = 1; status != MGB_OK; n++) {
        mgb_alloc_fail_at(n);
        status = io_save(&b, io_path("w"));
        mgb_alloc_fail_at(0);
        if (status == MGB_OK)
            break;
        assert_true(status == MGB_NO_MEMORY || status == MGB_IO);
        assert_kept(&kept);
        assert_true(n < 1000);
    }
    for (int n = 1; n < 1000; n++) {
        a.writes = 0;
        mgb_alloc_fail_at(n);
        status = io_load(&a, io_path("w"), NULL, NULL);
        mgb_alloc_fail_at(0);
        if (status == MGB_OK)
            break;
        assert_int_equal(status, MGB_NO_MEMORY);
        assert_int_equal(a.writes, 0);
    }
    io_assert_equal(&a, &b, true);
    kept_done(&kept);
    io_model_done(&a);
    io_model_done(&b);
}

/* Killed at any moment: the files of before or after each renaming, as a killed process leaves them. */
static void whoever_is_killed_between_two_renamings_leaves_a_pair(void **state)
{
    struct io_model a = mlp(1), b = mlp(2), c = mlp(3);
    const struct mgb_checkpoint_options all = {.use = MGB_CHECKPOINT_ALL};
    (void)state;
    assert_ok(io_save(&b, io_path("new")));
    assert_ok(io_save(&a, io_path("w")));
    assert_int_equal(
        rename(io_path("new.optimizer.safetensors"), io_path("w.optimizer.safetensors.next")), 0);
    assert_ok(io_load(&c, io_path("w"), &all, NULL)); /* only the state is renamed: the old pair */
    io_assert_equal(&c, &a, true);
    assert_int_equal(rename(io_path("new"), io_path("w")), 0);
    assert_ok(io_load(&c, io_path("w"), &all, NULL)); /* the weights too: the new pair */
    io_assert_equal(&c, &b, true);
    assert_int_equal(unlink(io_path("w.optimizer.safetensors")), 0);
    assert_ok(
        io_load(&a, io_path("w"), &all, NULL)); /* the same, the first time that it was saved */
    io_assert_equal(&a, &b, true);
    assert_ok(io_save(&c, io_path("w"))); /* and the next save is as any other */
    assert_int_equal(io_count(), 2);
    io_model_done(&a);
    io_model_done(&b);
    io_model_done(&c);
}

static void
the_optimizer_s_file_is_there_before_the_weights_and_gets_its_name_after_them(void **state)
{
    static const char *const expected[] = {"w.optimizer.safetensors.next", "w",
                                           "w.optimizer.safetensors"};
    _Alignas(struct inotify_event) char events[4096];
    struct io_model a = mlp(1);
    (void)state;
    int watch = inotify_init1(IN_CLOEXEC), seen = 0;
    assert_true(watch >= 0 && inotify_add_watch(watch, io_folder, IN_MOVED_TO) >= 0);
    assert_ok(io_save(&a, io_path("w")));
    ssize_t size = read(watch, events, sizeof events);
    for (ssize_t at = 0; at < size; seen++) {
        const struct inotify_event *event = (const void *)(events + at);
        assert_true(seen < 3);
        assert_string_equal(event->name, expected[seen]);
        at += (ssize_t)(sizeof *event + event->len);
    }
    assert_int_equal(seen, 3);
    close(watch);
    io_model_done(&a);
}

/* Forked and killed while it writes; and one that is still at it. */
static void what_a_killed_save_left_behind_goes_with_the_next_one(void **state)
{
    struct io_model a = mlp(1);
    struct mgb_replace writing;
    (void)state;
    assert_ok(io_save(&a, io_path("w")));
    pid_t child = fork();
    if (child == 0) {
        struct mgb_replace left;
        if (mgb_replace_open(&left, io_path("w"), 1000) == MGB_OK)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFSIGNALED(ended));
    assert_int_equal(io_count(), 3);
    io_write(io_path("w.1.2.tmpx"), "mine", 4);
    io_write(io_path("w.1.tmp"), "mine", 4);
    assert_ok(mgb_replace_open(&writing, io_path("w.optimizer.safetensors"), 10));
    assert_int_equal(io_count(), 6);
    assert_ok(io_save(
        &a, io_path("w"))); /* removes the one, leaves the other alone, and what is none of ours */
    assert_int_equal(io_count(), 5);
    assert_ok(mgb_replace_write(&writing, "0123456789", 10));
    assert_ok(mgb_replace_commit(&writing));
    assert_int_equal(io_count(), 4);
    io_model_done(&a);
}

static void what_is_no_file_is_never_replaced(void **state)
{
    struct io_model a = mlp(1);
    (void)state;
    assert_int_equal(mkfifo(io_path("pipe"), 0600), 0);
    assert_int_equal(symlink("nowhere", io_path("link")), 0);
    static const struct {
        const char *path, *words;
        enum mgb_status status;
    } refused[] = {{"pipe", "it is a pipe or a device", MGB_INVALID},
                   {".", "it is a folder", MGB_INVALID},
                   {"link", "a link to nothing", MGB_INVALID},
                   {"no/w", "No such file or directory", MGB_MISSING},
                   {"pipe/w", "is no folder", MGB_INVALID},
                   {"", "is no name of a file", MGB_INVALID}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_status(io_save(&a, io_path(refused[i].path)), refused[i].status);
        assert_message(refused[i].words);
        assert_status(mgb_checkpoint_check(io_path(refused[i].path)), refused[i].status);
    }
    assert_status(io_save(&a, "/dev/full"), MGB_INVALID);
    assert_status(io_save(&a, ""), MGB_INVALID);
    assert_int_equal(io_count(), 2);
    assert_int_equal(mkfifo(io_path("w.optimizer.safetensors"), 0600), 0);
    assert_status(mgb_checkpoint_check(io_path("w.safetensors")), MGB_INVALID);
    assert_status(io_save(&a, io_path("w.safetensors")), MGB_INVALID);
    assert_int_equal(io_count(), 3);
    io_model_done(&a);
}

/* Whoever may write anywhere cannot make a file in /proc either. */
static void a_folder_that_takes_no_file_is_named(void **state)
{
    struct io_model a = mlp(1);
    (void)state;
    assert_status(io_save(&a, "/proc/w"), MGB_IO);
    assert_message("save: '/proc/w");
    assert_message("cannot be written");
    io_model_done(&a);
}

static void links_are_followed_and_modes_kept(void **state)
{
    struct io_model a = mlp(1), b = mlp(2);
    struct stat info;
    (void)state;
    assert_ok(io_save(&a, io_path("real")));
    assert_int_equal(chmod(io_path("real"), 0640), 0);
    assert_int_equal(symlink("real", io_path("link")), 0);
    assert_ok(io_save(&b, io_path("link")));
    assert_int_equal(lstat(io_path("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(io_path("real"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_ok(io_load(&a, io_path("link"), NULL, NULL));
    io_assert_equal(&a, &b, true);
    io_model_done(&a);
    io_model_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_device_that_fails_on_the_way_leaves_the_old_files,
                                  files_remove),
        cmocka_unit_test_teardown(a_full_disk_leaves_the_old_files, files_remove),
        cmocka_unit_test_teardown(exhausted_memory_leaves_the_old_files, files_remove),
        cmocka_unit_test_teardown(whoever_is_killed_between_two_renamings_leaves_a_pair,
                                  files_remove),
        cmocka_unit_test_teardown(
            the_optimizer_s_file_is_there_before_the_weights_and_gets_its_name_after_them,
            files_remove),
        cmocka_unit_test_teardown(what_a_killed_save_left_behind_goes_with_the_next_one,
                                  files_remove),
        cmocka_unit_test_teardown(what_is_no_file_is_never_replaced, files_remove),
        cmocka_unit_test(a_folder_that_takes_no_file_is_named),
        cmocka_unit_test(links_are_followed_and_modes_kept),
    };
    return cmocka_run_group_tests(tests, io_folder_make, io_folder_remove);
}
