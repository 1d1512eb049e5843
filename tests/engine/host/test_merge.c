/* Statistics of towers merged: those of all their values in one row, whoever holds how many of them, with a mean that is large
 * beside the spread, and the same for any team. */
#include "tests/support/check.h"

#include "engine/base/random.h"
#include "tests/support/rig.h"
#include <math.h>
#include <string.h>

static const struct mgb_backend *const host = &mgb_host_backend;

enum { TOWERS = 5, COUNT = 9001, VALUES = 23 };

static const int64_t rows[TOWERS] = {7, 1, 10, 4, 1};

static double value_at(int value, int channel)
{
    uint32_t bits = mgb_random_at(3, (uint64_t)value, (uint64_t)channel).v[0];
    return 100 * (double)(channel % 3) + (double)mgb_random_unit(bits);
}

static void statistics(int first, int count, int channel, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (int i = first; i < first + count; i++)
        *mean += value_at(i, channel) / count;
    for (int i = first; i < first + count; i++)
        *variance += pow(value_at(i, channel) - *mean, 2) / count;
}

static void parts_fill(float parts[2 * TOWERS][COUNT], const float *sources[2 * TOWERS])
{
    double mean, variance;
    for (int k = 0, first = 0; k < TOWERS; first += (int)rows[k++]) {
        for (int i = 0; i < COUNT; i++) {
            statistics(first, (int)rows[k], i, &mean, &variance);
            parts[k][i] = (float)mean;
            parts[TOWERS + k][i] = (float)variance;
        }
        sources[k] = parts[k];
        sources[TOWERS + k] = parts[TOWERS + k];
    }
}

static void merged_statistics_are_those_of_all_values(void **state)
{
    (void)state;
    static float parts[2 * TOWERS][COUNT], out[2][2][COUNT];
    const float *sources[2 * TOWERS];
    parts_fill(parts, sources);
    struct rig rig = rig_open(host, 0);
    for (int threads = 1; threads <= 2; threads++) {
        struct mgb_queue *queue = rig_compute(&rig, 0, threads);
        float(*to)[COUNT] = out[threads - 1];
        assert_ok(host->merge(queue, to[0], to[1], sources, rows, TOWERS, COUNT));
        assert_ok(host->drain(rig.context, 0));
        host->queue_free(queue);
    }
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    for (int i = 0; i < COUNT; i++) {
        double mean, variance;
        statistics(0, VALUES, i, &mean, &variance);
        assert_true(fabs((double)out[0][0][i] - mean) <= 1e-6 * (1 + fabs(mean)));
        assert_true(fabs((double)out[0][1][i] - variance) <= 2e-5 * (1 + sqrt(fabs(mean))));
    }
    rig_close(&rig);
}

/* The parts of one tower are its own values, to the bit. */
static void of_one_tower_they_are_its_own(void **state)
{
    (void)state;
    const float mean[3] = {1.0f / 3, -7, 1e20f}, variance[3] = {0, 0.7f, 1e-20f};
    const float *sources[2] = {mean, variance};
    float out[2][3];
    struct rig rig = rig_open(host, 0);
    struct mgb_queue *queue = rig_compute(&rig, 0, 1);
    assert_ok(host->merge(queue, out[0], out[1], sources, rows, 1, 3));
    assert_ok(host->drain(rig.context, 0));
    assert_memory_equal(out[0], mean, sizeof mean);
    assert_memory_equal(out[1], variance, sizeof variance);
    host->queue_free(queue);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_statistics_are_those_of_all_values),
        cmocka_unit_test(of_one_tower_they_are_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
