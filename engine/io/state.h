/* The words about training in the optimizer's file, and its name. Knows no tensors. */
#ifndef MGB_IO_STATE_H
#define MGB_IO_STATE_H

#include "engine/io/tensor_file.h"
#include "engine/io/writer.h"

/* "a/w.safetensors" -> "a/w.optimizer.safetensors", "w" -> "w.optimizer.safetensors"; to be released, NULL: no memory. */
char *mgb_state_path(const char *path);

void mgb_state_write(struct mgb_writer *out, const struct mgb_checkpoint_state *state,
                     uint64_t weights);
/* MGB_CORRUPT: a word is missing or makes no sense; the message names it, not the file. */
enum mgb_status mgb_state_read(struct mgb_checkpoint_state *out, uint64_t *weights,
                               const struct mgb_tensor_file *file);
/* The slots of one can be those of the other. */
bool mgb_state_fits(const struct mgb_checkpoint_state *stored,
                    const struct mgb_checkpoint_state *run);
/* What is not as it was when the state was stored, in words: seed, data, settings; "" when all is. */
void mgb_state_differ(char *out, size_t size, const struct mgb_checkpoint_state *stored,
                      const struct mgb_checkpoint_state *run);

#endif
