/* The header of one .npy array (numpy.lib.format, versions 1 to 3). */
#ifndef MGB_DATA_NPY_H
#define MGB_DATA_NPY_H

#include "engine/data/bytes.h"
#include <mgb/model.h>

#define MGB_NPY_MAX_RANK (MGB_MAX_RANK + 2)

enum mgb_npy_type { MGB_NPY_F4, MGB_NPY_F8, MGB_NPY_I4, MGB_NPY_I8, MGB_NPY_U1 };

struct mgb_npy {
    enum mgb_npy_type type;
    int rank; /* rows included, 1 at least */
    int64_t dim[MGB_NPY_MAX_RANK];
    int64_t row_count; /* elements of a row */
};

int mgb_npy_type_size(enum mgb_npy_type type);
/* Reads the header and leaves `bytes` at the first value; what follows is as long as the header says. MGB_CORRUPT and
 * MGB_UNSUPPORTED say what was found and how to save it instead. */
enum mgb_status mgb_npy_read(struct mgb_npy *out, struct mgb_bytes *bytes);

#endif
