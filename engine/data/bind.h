/* What every maker of a source does with a model: find its inputs and check that labels are classes of it. */
#ifndef MGB_DATA_BIND_H
#define MGB_DATA_BIND_H

#include <mgb/data.h>

/* The model's input of that name; MGB_INVALID lists those there are and the nearest. */
enum mgb_status mgb_input_find(int *index, const struct mgb_graph *graph, const char *name);
/* Bytes of one row of input `index`. */
int64_t mgb_input_row_bytes(const struct mgb_graph *graph, int index);
/* MGB_INVALID when the label of stored row `row` is no class of input `index`; `where` names file or source. */
enum mgb_status mgb_label_check(const char *where, const struct mgb_graph *graph, int index,
                                int64_t row, int64_t label);

#endif
