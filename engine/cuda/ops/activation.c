/* relu, relu6, tanh, sigmoid and their gradients, in place where the plan allows. */
#include "engine/cuda/kernel.h"
#include "engine/cuda/queue.h"

_Static_assert(MGB_LINEAR == 0 && MGB_RELU == 1 && MGB_TANH == 2 && MGB_SIGMOID == 3 &&
                   MGB_RELU6 == 4,
               "activation.cuh has these numbers");

static enum mgb_status activation_facts(struct mgb_operator_facts *facts,
                                        const struct mgb_cuda_use *use)
{
    facts->in_place = use->kind == MGB_OP_ACTIVATION ? 0 : 1; /* the gradient may overwrite dy */
    return MGB_OK;
}

static enum mgb_status activation_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                        const struct mgb_launch *launch)
{
    struct mgb_gpu_activate_args args = {.y = launch->outputs[0],
                                         .x = launch->inputs[0],
                                         .count = kernel->use.out[0].count,
                                         .activation = (int)kernel->use.a.activation.activation};
    return mgb_cuda_start_quads(queue, (const void *)mgb_gpu_activate, args.count, &args);
}

static enum mgb_status activation_grad_start(struct mgb_queue *queue,
                                             const struct mgb_kernel *kernel,
                                             const struct mgb_launch *launch)
{
    struct mgb_gpu_activate_grad_args args = {.dx = launch->outputs[0],
                                              .y = launch->inputs[0],
                                              .dy = launch->inputs[1],
                                              .count = kernel->use.out[0].count,
                                              .activation =
                                                  (int)kernel->use.a.activation.activation};
    return mgb_cuda_start_quads(queue, (const void *)mgb_gpu_activate_grad, args.count, &args);
}

const struct mgb_cuda_op mgb_cuda_activation = {.facts = activation_facts,
                                                .start = activation_start};
const struct mgb_cuda_op mgb_cuda_activation_grad = {.facts = activation_facts,
                                                     .start = activation_grad_start};
