/* A safetensors file that is read: 8 bytes with the size of a header, little-endian, the header in JSON, then the values
 * (github.com/huggingface/safetensors, README "Format"). Nothing of it is believed: every size is held against the size
 * of the file before memory is taken. Knows no model. */
#ifndef MGB_IO_TENSOR_FILE_H
#define MGB_IO_TENSOR_FILE_H

#include <mgb/model.h>
#include <stddef.h>

struct mgb_stored { /* a tensor of the file */
    const char *name, *type;
    int rank; /* at most MGB_MAX_RANK + 1: that it is larger than any of ours */
    int64_t dim[MGB_MAX_RANK];
    int64_t count;        /* elements */
    int64_t begin, bytes; /* in the values */
};

struct mgb_stored_word { /* of __metadata__ */
    const char *name, *value;
};

struct mgb_tensor_file {
    char *path, *header;
    int fd;
    int64_t data, data_bytes; /* the values, from the start of the file */
    int count, word_count;
    struct mgb_stored *tensors; /* by name */
    struct mgb_stored_word *words;
};

/* MGB_MISSING: there is no such file; MGB_INVALID: it is no regular file; MGB_CORRUPT: no safetensors file, or damaged; the
 * message names the file and the tensor or byte. */
enum mgb_status mgb_tensor_file_open(struct mgb_tensor_file *out, const char *path);
void mgb_tensor_file_close(struct mgb_tensor_file *file);

const struct mgb_stored *mgb_tensor_file_find(const struct mgb_tensor_file *file, const char *name);
const char *mgb_tensor_file_find_word(const struct mgb_tensor_file *file, const char *name);

/* F32, F16 and BF16 can be read as f32. */
bool mgb_stored_readable(const struct mgb_stored *stored);
char *mgb_stored_shape(char *out, size_t size, const struct mgb_stored *stored);
/* All values of a readable tensor, widened; `out` holds its count. MGB_IO, MGB_CORRUPT when the file has become shorter. */
enum mgb_status mgb_tensor_file_read(float *out, const struct mgb_tensor_file *file,
                                     const struct mgb_stored *stored);
/* Digest of one tensor as f32; those of a file add up, in any order. */
uint64_t mgb_stored_digest(const char *name, const float *values, int64_t count);

#endif
