/* Checkpoints: a model's weights as a safetensors file, and beside it what training goes on from. They hold the user's
 * model and nothing else: variables by their full names, f32 in plain layout; no placement, no copies, no towers. So a file
 * written on any number of devices loads on any other.
 *
 *     w.safetensors            the weights, frozen ones too; of variables that each tower made for itself tower 0's; in
 *                              __metadata__ the model and, where it has moving statistics, what they are of
 *     w.optimizer.safetensors  slots as "VARIABLE/SLOT"; in __metadata__ the optimizer, steps, updates, place in the data,
 *                              seed and the loss scale of f16, and a digest of the weights that it belongs to
 *
 * Where the values come from and go to is the caller's: a run, through a table of functions. */
#ifndef MGB_CHECKPOINT_H
#define MGB_CHECKPOINT_H

#include <mgb/model.h>
#include <mgb/optimizer.h>
#include <mgb/run.h>

struct mgb_checkpoint_values { /* slot -1: the weight; buffers hold the variable's count */
    void *context;
    bool (*has)(void *context, int variable, int slot);
    enum mgb_status (*read)(void *context, float *out, int variable, int slot);
    enum mgb_status (*write)(void *context, const float *values, int variable, int slot);
};

struct mgb_checkpoint_state {
    struct mgb_optimizer optimizer;
    struct mgb_progress progress;
    const char *statistics; /* what moves moving statistics; NULL: not said. Loading ignores it */
};

/* Whether a file can be written there, found out without writing: see mgb_checkpoint_save. Both files. */
enum mgb_status mgb_checkpoint_check(const char *path);

/* Writes both files beside the old ones and exchanges them when they are on the disk; after a failure the old ones are as
 * they were. MGB_INVALID: the path is a folder, pipe or device; MGB_MISSING: no such folder; MGB_IO: the disk. */
enum mgb_status mgb_checkpoint_save(const char *path, const struct mgb_graph *graph,
                                    const struct mgb_checkpoint_state *state,
                                    const struct mgb_checkpoint_values *values);

/* Of state that fits, slots of variables that were frozen when it was saved begin as 0 (ALL: are missing). */
enum mgb_checkpoint_use {
    MGB_CHECKPOINT_FITTING, /* the optimizer's state if it is there and of the same optimizer; else it starts anew */
    MGB_CHECKPOINT_ALL,     /* it must be there and fit */
    MGB_CHECKPOINT_WEIGHTS, /* it is not looked at and starts anew */
};
struct mgb_checkpoint_options {
    bool partial; /* names that only one side has are left out and told, no error */
    enum mgb_checkpoint_use use;
};

struct mgb_checkpoint_names {
    int count;
    char **at;
};

struct mgb_checkpoint_loaded {
    int64_t tensors;                                 /* weights that were loaded */
    int64_t widened;                                 /* of them stored as F16 or BF16 */
    struct mgb_checkpoint_names missing, unexpected; /* partial: in the model, in the file only */
    bool resumed; /* optimizer state and progress are the file's, else slots are 0 */
    struct mgb_progress progress; /* when resumed: to be set on the run */
    char remark[320];             /* why not resumed, what differs; "" */
};

/* `state` is that of the run that takes the values. Everything is checked before the first value is written: only a file that
 * cannot be read on any more leaves weights half loaded, and says so. MGB_MISSING: no such file, or a tensor of the model
 * is not in it; MGB_INVALID: it is of another model; MGB_CORRUPT: it is damaged. Messages name tensor or byte. */
enum mgb_status mgb_checkpoint_load(struct mgb_checkpoint_loaded *out, const char *path,
                                    const struct mgb_graph *graph,
                                    const struct mgb_checkpoint_state *state,
                                    const struct mgb_checkpoint_values *values,
                                    const struct mgb_checkpoint_options *options);
void mgb_checkpoint_loaded_done(struct mgb_checkpoint_loaded *loaded);

#endif
