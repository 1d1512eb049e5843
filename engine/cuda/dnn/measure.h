/* How long both implementations of a prepared operator take; see measure.c. */
#ifndef MGB_CUDA_DNN_MEASURE_H
#define MGB_CUDA_DNN_MEASURE_H

#include "engine/cuda/dnn/dnn.h"

struct mgb_cuda_dnn_times {
    int64_t first_ns, second_ns; /* the least of a few */
};
/* On the queue, which has nothing else to do, with memory of its own that is given back. MGB_OOM when there is none. */
enum mgb_status mgb_cuda_dnn_measure(struct mgb_cuda_dnn_times *out, struct mgb_queue *queue,
                                     const struct mgb_kernel *kernel);

#endif
