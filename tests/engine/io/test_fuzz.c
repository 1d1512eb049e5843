/* Damaged checkpoints: every one is loaded as it says or refused with words; none crashes, hangs, takes more memory than
 * its size warrants, or leaves a refused model changed. MGB_FUZZ_SECONDS of them, else 2; with MGB_LONG=1 60.
 * MGB_FUZZ_SEED=N plays one. */
#include "engine/base/clock.h"
#include "tests/engine/io/damage.h"
#include "tests/engine/io/rig.h"
#include "tests/support/draws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

struct sample {
    unsigned char *bytes;
    size_t size;
};

static int refused, taken;

static bool words_are_fit(const char *message)
{
    for (const unsigned char *at = (const unsigned char *)message; *at; at++)
        if (*at < ' ' || *at == 0x7f)
            return false;
    return strncmp(message, "load: ", 6) == 0 && strlen(message) < 2000;
}

static void damaged_load(struct io_model *model, const struct sample *samples, uint64_t seed)
{
    static unsigned char bytes[ROOM];
    static const char *const names[] = {"w", "w.optimizer.safetensors"};
    int which = (int)(seed % 2);
    size_t size = samples[which].size;
    memcpy(bytes, samples[which].bytes, size);
    io_damage(bytes, &size, ROOM, seed);
    io_write(io_path(names[which]), bytes, size);
    struct mgb_checkpoint_options options = {.partial = seed / 2 % 2, .use = seed / 4 % 3};
    struct mgb_checkpoint_loaded loaded;
    model->writes = 0;
    enum mgb_status status = io_load(model, io_path("w"), &options, &loaded);
    if (status == MGB_OK) {
        taken++;
        mgb_checkpoint_loaded_done(&loaded);
    } else {
        refused++;
        if (model->writes || !words_are_fit(mgb_message_get()) ||
            (status != MGB_CORRUPT && status != MGB_INVALID && status != MGB_MISSING))
            fail_msg("seed %llu: %lld values written, status %s: %s", (unsigned long long)seed,
                     (long long)model->writes, mgb_status_name(status), mgb_message_get());
    }
    io_write(io_path(names[which]), samples[which].bytes, samples[which].size);
}

static int64_t time_given(void)
{
    const char *seconds = getenv("MGB_FUZZ_SECONDS");
    int64_t count = draw_long() ? 60 : seconds ? strtoll(seconds, NULL, 10) : 2;
    return count * INT64_C(1000000000);
}

static void damaged_files_are_refused_or_loaded(void **state)
{
    struct io_model saved = io_model_make(model_mlp(), MGB_ADAM, 1);
    struct io_model model = io_model_make(model_mlp(), MGB_ADAM, 2);
    struct sample samples[2];
    const char *given = getenv("MGB_FUZZ_SEED");
    int64_t end = mgb_clock_ns() + time_given();
    (void)state;
    assert_ok(io_save(&saved, io_path("w")));
    samples[0].bytes = io_read(io_path("w"), &samples[0].size);
    samples[1].bytes = io_read(io_path("w.optimizer.safetensors"), &samples[1].size);
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1, first = seed;
    do
        damaged_load(&model, samples, seed++);
    while (!given && (seed < first + 200 || mgb_clock_ns() < end));
    printf("%llu damaged files: %d refused, %d loaded\n", (unsigned long long)(seed - first),
           refused, taken);
    if (!given) {
        assert_true(refused > 100); /* the damage is seen */
        assert_true(taken > 10);    /* and what is harmless is no reason to refuse */
    }
    free(samples[0].bytes);
    free(samples[1].bytes);
    io_model_done(&saved);
    io_model_done(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_files_are_refused_or_loaded)};
    return cmocka_run_group_tests(tests, io_folder_make, io_folder_remove);
}
