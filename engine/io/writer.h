/* Writes a safetensors file of variables: first what is to be in it, then its header, then the values, variable by
 * variable, so that no more than one is held. Knows models; where values come from is a function. */
#ifndef MGB_IO_WRITER_H
#define MGB_IO_WRITER_H

#include "engine/base/text.h"
#include "engine/base/vector.h"
#include "engine/io/replace.h"
#include <mgb/checkpoint.h>

struct mgb_writer_item {
    char *name; /* owned */
    struct mgb_shape shape;
    int64_t count;
    int variable, slot;
};

struct mgb_writer {
    mgb_vector(struct mgb_writer_item) items;
    struct mgb_text words, header;
    int64_t values_bytes;
    bool failed; /* memory was exhausted: said by make_header */
};

void mgb_writer_done(struct mgb_writer *writer);
/* A variable, or one of its slots; a word of __metadata__. */
void mgb_writer_add(struct mgb_writer *writer, const struct mgb_variable_info *info, int variable,
                    int slot, const char *slot_name);
void mgb_writer_add_word(struct mgb_writer *writer, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Filled up with blanks, so that values begin at a multiple of 64 bytes. */
enum mgb_status mgb_writer_make_header(struct mgb_writer *writer);
/* Bytes of the whole file, once the header is made. */
int64_t mgb_writer_bytes(const struct mgb_writer *writer);
/* `scratch` holds the count of the largest item; *digest: the sum of mgb_stored_digest. */
enum mgb_status mgb_writer_write(struct mgb_replace *file, const struct mgb_writer *writer,
                                 const struct mgb_checkpoint_values *values, float *scratch,
                                 uint64_t *digest);

#endif
