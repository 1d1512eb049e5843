/* Between tensor_file.c and tensor_header.c. */
#ifndef MGB_IO_TENSOR_HEADER_H
#define MGB_IO_TENSOR_HEADER_H

#include "engine/io/tensor_file.h"

/* Fills in tensors and words from out->header, `size` bytes. Messages do not name the file. */
enum mgb_status mgb_tensor_file_read_header(struct mgb_tensor_file *out, size_t size);

#endif
