/* Which stored tensor is which variable's, or slot's. Nothing is read of the values here. */
#ifndef MGB_IO_MATCH_H
#define MGB_IO_MATCH_H

#include "engine/io/tensor_file.h"
#include <mgb/checkpoint.h>

struct mgb_match {
    const struct mgb_tensor_file *file;
    const struct mgb_graph *graph;
    const struct mgb_optimizer *optimizer; /* NULL: weights, else slots */
    int width;                             /* 1, or the slots of a variable */
    const struct mgb_stored **stored;      /* variable * width + slot; NULL: none */
    int64_t found, widened;
    struct mgb_checkpoint_names missing, unexpected;
};

/* MGB_INVALID: a tensor has another shape or a type that is no number with a fraction. Names that only one side has are
 * listed; slots of variables that are not trained now are expected and passed over. */
enum mgb_status mgb_match_make(struct mgb_match *out, const struct mgb_tensor_file *file,
                               const struct mgb_graph *graph, const struct mgb_optimizer *optimizer,
                               const struct mgb_checkpoint_values *values);
void mgb_match_done(struct mgb_match *match);
/* MGB_INVALID: nothing was found; unless `partial`, MGB_MISSING: some names are on one side only. */
enum mgb_status mgb_match_check(const struct mgb_match *match, bool partial);

/* Of slots: how many variables the file has none of, as it is where they were frozen when it was saved. 0 if something
 * else is between file and model, too. */
int mgb_match_untrained(const struct mgb_match *match);

void mgb_checkpoint_names_done(struct mgb_checkpoint_names *names);

#endif
