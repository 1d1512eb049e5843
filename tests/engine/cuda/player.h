/* The smallest executor: plays a graph on towers of a backend, gradients by all-reduce, without plan or planner. It uses
 * nothing but backend.h, so host and CUDA backends can be compared through the same calls. */
#ifndef MGB_TESTS_CUDA_PLAYER_H
#define MGB_TESTS_CUDA_PLAYER_H

#include "engine/backend/backend.h"

struct player_options {
    int towers; /* on devices 1 .. towers */
    int rows;   /* of the global batch, a multiple of towers */
    bool head_on_cpu;
    struct mgb_optimizer optimizer;
    struct mgb_backend_options backend;
};

struct player;

enum mgb_status player_make(struct player **out, const struct mgb_backend *backend,
                            const struct mgb_topology *topology, const struct mgb_graph *graph,
                            const struct player_options *options);
void player_free(struct player *player);
/* One step on this batch: input i of the graph at data[i], global rows. The mean loss to `loss`. */
enum mgb_status player_step(struct player *player, const void *const *data, float *loss);
void *player_context(const struct player *player);
/* A variable's values on a tower. */
void player_weights(struct player *player, int tower, int variable, float *out);
/* When the last step's first and last event of a tower happened. */
void player_times(struct player *player, int tower, int64_t *first_ns, int64_t *last_ns);

/* A fake machine of so many GPUs with 64 MiB each; `fail` as FAKE_CUDA_FAIL, or NULL. Nothing may be live. */
void gpus_set(const char *devices, const char *fail);
/* The CUDA backend with the host's CPU kernels, as the registry would hand it out. */
const struct mgb_backend *cuda_backend_get(void);

/* x [16] -> dense 24 relu -> dense 12 tanh -> dense 5, softmax cross-entropy and accuracy. */
struct mgb_graph *mlp_make(void);
/* Rows of a learnable task: float x[rows][16] and int32 labels. */
void mlp_data(float *x, int32_t *labels, int rows, unsigned seed);

#endif
