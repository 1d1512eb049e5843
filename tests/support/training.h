/* Runs for tests: opened from a line of options, stepped, toggled and compared. Every function fails the running test when
 * the engine refuses, unless it says otherwise. */
#ifndef MGB_TESTS_TRAINING_H
#define MGB_TESTS_TRAINING_H

#include <mgb/run.h>

/* Sets "gpus=2 global_batch=10 cpu_merge=false" on a placement. Words are separated by spaces. */
void placement_apply(struct mgb_placement *placement, const char *options);

struct training {
    const struct mgb_graph *graph;
    struct mgb_source *source; /* NULL: synthetic */
    struct mgb_optimizer optimizer;
    const char *options;
    const char *backend; /* NULL: "host" */
    uint64_t seed;
    int cores; /* 0: 1, so that every team is one thread: teams spin, and tests share their machine */
    int64_t timeout_ns;
    bool guarded;
    const struct mgb_backend *play_on;
};
struct mgb_run *training_open(const struct training *training);
/* May be refused. */
enum mgb_status training_try_open(struct mgb_run **out, const struct training *training);
struct mgb_optimizer training_sgd(float lr, float momentum);

/* Runs `steps` steps; `losses` (may be NULL) gets as many. */
void training_step(struct mgb_run *run, int steps, double *losses);
/* Changes options of a run; may be refused. */
enum mgb_status training_try_set(struct mgb_run *run, const char *options);
struct mgb_change training_set(struct mgb_run *run, const char *options);
uint64_t training_digest(struct mgb_run *run);
/* All weights of a run one after another; the caller frees. *count may be NULL. */
float *training_weights(struct mgb_run *run, int64_t *count);
/* Largest |a - b| / max(|a|) over whole arrays. */
double training_difference(const float *a, const float *b, int64_t count);
/* Bytes held on all devices. */
int64_t training_held(struct mgb_run *run);

/* Seeded rows for any model: f32 in [0, 1), labels below the classes. `rows` of them, shuffled each epoch unless ordered. */
struct training_data {
    struct mgb_source source;
    void **arrays;
    int inputs;
};
struct training_data training_data_make(const struct mgb_graph *graph, int64_t rows, bool shuffle,
                                        uint64_t seed);
void training_data_done(struct training_data *data);

#endif
