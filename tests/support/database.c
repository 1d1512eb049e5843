/* A results file for a test; see database.h. */
#include "tests/support/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/query.h"
#include "tests/support/check.h"

int database_setup(void **state)
{
    char *path = malloc(64);
    if (!path)
        return -1;
    strcpy(path, "/tmp/mgb-db-XXXXXX");
    if (!mkdtemp(path))
        return -1;
    strcat(path, "/results.db");
    *state = path;
    return 0;
}

int database_teardown(void **state)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", ".lock", ".copy"};
    char *path = *state, file[96];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(file, sizeof file, "%s%s", path, endings[i]);
        unlink(file);
    }
    *strrchr(path, '/') = 0;
    int code = rmdir(path);
    free(path);
    return code;
}

const struct mgb_record_run *database_run(void)
{
    static const struct mgb_record_device devices[] = {
        {.name = "/cpu:0", .kind = "cpu", .product = "a CPU", .cores = {2, true}},
        {.name = "/gpu:0", .kind = "cpu", .memory_gbps = {12.5, true}},
        {.name = "/gpu:1", .kind = "cpu"}};
    static const struct mgb_record_link links[] = {{.from = "/cpu:0",
                                                    .to = "/gpu:0",
                                                    .kind = "memory",
                                                    .peer_access = {1, true},
                                                    .gbps = {8, true},
                                                    .latency_ns = {700, true}}};
    static const struct mgb_record_machine machine = {.key = "0123",
                                                      .name = "here",
                                                      .cpu = "a CPU",
                                                      .os = "Linux",
                                                      .cores = {2, true},
                                                      .devices = devices,
                                                      .device_count = 3,
                                                      .links = links,
                                                      .link_count = 1};
    static const struct mgb_record_model model = {.name = "tiny",
                                                  .options = "{\"classes\":10}",
                                                  .graph_digest = "abcd",
                                                  .parameters = {1234, true}};
    static const struct mgb_record_run run = {.machine = &machine,
                                              .model = &model,
                                              .backend = "host",
                                              .seed = {1, true},
                                              .script = "placement.lua",
                                              .command = "mgbench -e placement.lua",
                                              .program_version = "0.1.0"};
    return &run;
}

struct mgb_record_segment database_segment(int64_t run)
{
    return (struct mgb_record_segment){.run = run,
                                       .asked = {.gpus = {2, true}, .cpu_merge = {1, true}},
                                       .effective = {.strategy = "outputs",
                                                     .gpus = {2, true},
                                                     .gpu_list = "[\"/gpu:0\",\"/gpu:1\"]",
                                                     .batch_mode = "weak",
                                                     .batch_per_gpu = {32, true},
                                                     .global_batch = {64, true},
                                                     .cpu_relocation = {0, true},
                                                     .cpu_merge = {1, true},
                                                     .weights_at = "/gpu:0",
                                                     .join_at = "/cpu:0",
                                                     .loss_at = "/cpu:0",
                                                     .sum_at = "/cpu:0",
                                                     .update_at = "/gpu:0",
                                                     .relocation = "move",
                                                     .precision = "f32"},
                                       .warmup_rule = "fixed",
                                       .warmup_steps = {0, true}};
}

struct mgb_record database_step(int64_t segment, int64_t index)
{
    return (struct mgb_record){.kind = MGB_RECORD_STEP,
                               .step = {.segment = segment,
                                        .step = index,
                                        .start_ns = index * 10000000,
                                        .wall_ns = 10000000,
                                        .examples = 64,
                                        .loss = 1.0 / (double)(index + 1),
                                        .has_loss = true}};
}

struct answer {
    struct mgb_value value;
    char *text;
    size_t size;
    int rows;
};

static enum mgb_status answer_take(void *context, const struct mgb_value *values, int count)
{
    struct answer *answer = context;
    (void)count;
    if (answer->rows++ > 0)
        return MGB_OK;
    answer->value = values[0];
    if (answer->text)
        snprintf(answer->text, answer->size, "%s",
                 values[0].kind == MGB_VALUE_TEXT ? values[0].text : "");
    return MGB_OK;
}

static struct answer answer_get(const char *path, const char *query, char *text, size_t size)
{
    struct mgb_reader *reader;
    struct answer answer = {.text = text, .size = size};
    struct mgb_query_sink sink = {.context = &answer, .row = answer_take};
    assert_ok(mgb_reader_open(&reader, path));
    assert_ok(mgb_query_run(reader, query, NULL, 0, &sink));
    mgb_reader_close(reader);
    if (answer.rows == 0)
        fail_msg("no row: %s", query);
    return answer;
}

int64_t database_int(const char *path, const char *query)
{
    struct answer answer = answer_get(path, query, NULL, 0);
    return answer.value.kind == MGB_VALUE_INT ? answer.value.integer : -1;
}

double database_real(const char *path, const char *query)
{
    struct answer answer = answer_get(path, query, NULL, 0);
    return answer.value.kind == MGB_VALUE_REAL  ? answer.value.real
           : answer.value.kind == MGB_VALUE_INT ? (double)answer.value.integer
                                                : -1;
}

char *database_text(char *out, size_t size, const char *path, const char *query)
{
    answer_get(path, query, out, size);
    return out;
}
