/* Operators by kind. */
#include "engine/cuda/ops/ops.h"

const struct mgb_cuda_op *const mgb_cuda_ops[MGB_OP_COUNT] = {
#define X(kind, name) [MGB_OP_##kind] = &mgb_cuda_##name,
    MGB_CUDA_OPS(X)
#undef X
};
