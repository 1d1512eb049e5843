/* What the plugin exports: the record of this backend. */
#include "engine/backend/mgb_contract.h"
#include "engine/cuda/arena.h"
#include "engine/cuda/dnn/dnn.h"
#include "engine/cuda/kernel.h"
#include "engine/cuda/nvml.h"
#include "engine/cuda/peers.h"
#include "engine/cuda/queue.h"
#include "engine/cuda/replay.h"

const struct mgb_cpu_kernels *mgb_cuda_cpu_kernels;

static const struct mgb_backend cuda_backend = {
    .name = "cuda",
    .probe = mgb_cuda_probe,
    .open = mgb_cuda_open,
    .close = mgb_cuda_close,
    .can = mgb_cuda_can,
    .versions = mgb_cuda_versions,
    .note = mgb_cuda_dnn_remark,
    .lost = mgb_cuda_lost,
    .sense = mgb_cuda_sense,
    .path = mgb_cuda_path,
    .describe = mgb_cuda_describe,
    .kernel = mgb_cuda_kernel,
    .arena_make = mgb_cuda_arena_make,
    .arena_free = mgb_cuda_arena_free,
    .write = mgb_cuda_write,
    .read = mgb_cuda_read,
    .queue_make = mgb_cuda_queue_make,
    .queue_free = mgb_cuda_queue_free,
    .event_make = mgb_cuda_event_make,
    .event_free = mgb_cuda_event_free,
    .record = mgb_cuda_record,
    .wait = mgb_cuda_wait,
    .event_time = mgb_cuda_event_time,
    .mark = mgb_cuda_mark,
    .capture_begin = mgb_cuda_capture_begin,
    .capture_end = mgb_cuda_capture_end,
    .capture_drop = mgb_cuda_capture_drop,
    .replay = mgb_cuda_replay,
    .replay_free = mgb_cuda_replay_free,
    .drain = mgb_cuda_drain,
    .launch = mgb_cuda_launch,
    .copy = mgb_cuda_copy,
    .fill = mgb_cuda_fill,
    .reduce = mgb_cuda_reduce,
    .merge = mgb_cuda_merge,
    .norm = mgb_cuda_norm,
    .clip = mgb_cuda_clip,
    .update = mgb_cuda_update,
    .cast = mgb_cuda_cast,
    .allreduce = mgb_cuda_allreduce,
    .allreduce_wire = mgb_cuda_allreduce_wire,
};

extern const char mgb_cuda_contract_text[] __asm__(MGB_CUDA_CONTRACT);
const char mgb_cuda_contract_text[] = MGB_CONTRACT;

/* The contract gives the symbol and its type one name, so here the function has another. */
const struct mgb_backend *
mgb_cuda_entry_get(const struct mgb_cpu_kernels *cpu) __asm__(MGB_CUDA_ENTRY);

const struct mgb_backend *mgb_cuda_entry_get(const struct mgb_cpu_kernels *cpu)
{
    mgb_cuda_cpu_kernels = cpu;
    return &cuda_backend;
}
