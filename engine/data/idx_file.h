/* One IDX file in memory. The format (LeCun's MNIST page): two zero bytes, a type byte, the number of dimensions, each
 * dimension as a big-endian u32, then the values, big-endian, last dimension fastest. */
#ifndef MGB_DATA_IDX_FILE_H
#define MGB_DATA_IDX_FILE_H

#include <mgb/model.h>

#define MGB_IDX_MAX_RANK (MGB_MAX_RANK + 1)

struct mgb_idx {
    int rank; /* rows included */
    int64_t dim[MGB_IDX_MAX_RANK];
    int64_t row_count;     /* elements of a row */
    unsigned char *values; /* u8 */
};

/* Reads a plain or gzip file of u8 values whole. MGB_MISSING or MGB_IO when it cannot be read; MGB_CORRUPT names file,
 * offset and what was found when it is no IDX file, is short or long, or its gzip stream is damaged. */
enum mgb_status mgb_idx_read(struct mgb_idx *out, const char *path);
void mgb_idx_done(struct mgb_idx *idx);

#endif
