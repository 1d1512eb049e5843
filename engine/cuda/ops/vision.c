/* Geometry and launches of the image operators. */
#include "engine/cuda/ops/vision.h"

struct mgb_gpu_window mgb_cuda_window(const struct mgb_window *window, const int before[2],
                                      const struct mgb_shape *x, const struct mgb_shape *y)
{
    struct mgb_gpu_window w;
    for (int i = 0; i < 2; i++) {
        w.in[i] = (int)x->dim[i];
        w.out[i] = (int)y->dim[i];
        w.size[i] = window->size[i];
        w.stride[i] = window->stride[i];
        w.dilation[i] = window->dilation[i];
        w.before[i] = before[i];
    }
    return w;
}

enum mgb_status mgb_cuda_start_rows(struct mgb_queue *queue, const void *kernel, int64_t rows,
                                    int64_t length, void *args)
{
    unsigned threads = length >= 256 ? 256 : (unsigned)(length + 31) / 32 * 32;
    if (length > INT32_MAX)
        return mgb_fail(MGB_UNSUPPORTED,
                        "%s: a row of an image has %lld elements; a GPU takes %d at most",
                        queue->last, (long long)length, INT32_MAX);
    return mgb_cuda_start(queue, kernel, mgb_cuda_blocks(rows, 1), threads < 32 ? 32 : threads,
                          args);
}
