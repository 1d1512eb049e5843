/* Checkpoints for tests: a folder of their own, files made of a header's text and bytes, and a model whose values lie in
 * memory, with or without slots. */
#ifndef MGB_TESTS_IO_RIG_H
#define MGB_TESTS_IO_RIG_H

#include "tests/support/check.h"
#include "tests/support/model.h"

#include <mgb/checkpoint.h>

extern char io_folder[64];
int io_folder_make(void **state);
int io_folder_remove(void **state);
/* "name" in the folder; of the last four calls. */
const char *io_path(const char *name);
/* A file of these bytes; its bytes, a NUL behind them, and how many. */
void io_write(const char *path, const void *bytes, size_t size);
unsigned char *io_read(const char *path, size_t *size);
/* A safetensors file: the size of the header, the header, `size` bytes of values (NULL: zeros). */
void io_write_tensors(const char *path, const char *header, const void *values, size_t size);
/* Files in the folder. */
int io_count(void);

struct io_model {
    struct mgb_graph *graph;
    struct mgb_checkpoint_state state;
    struct mgb_checkpoint_values values;
    int slots;
    float **at;       /* variable * (1 + slots) + 1 + slot */
    int64_t writes;   /* values were written so often */
    int fail_read_at; /* this read fails; 0: none */
    int reads;
};
/* Takes the graph over. Values differ everywhere, and by `seed`. */
struct io_model io_model_make(struct mgb_graph *graph, enum mgb_optimizer_kind kind, int seed);
void io_model_done(struct io_model *model);
float *io_model_at(const struct io_model *model, const char *variable, int slot);
enum mgb_status io_save(struct io_model *model, const char *path);
/* Under `options` (NULL: the default); what came of it is looked at by `loaded` (NULL: dropped). */
enum mgb_status io_load(struct io_model *model, const char *path,
                        const struct mgb_checkpoint_options *options,
                        struct mgb_checkpoint_loaded *loaded);
/* Weights, and slots too. */
void io_assert_equal(const struct io_model *a, const struct io_model *b, bool slots);

#endif
