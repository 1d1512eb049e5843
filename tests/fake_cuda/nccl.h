/* Between nccl.c, which takes the calls, and collective.c, which plays them. */
#ifndef FAKE_NCCL_H
#define FAKE_NCCL_H

#include "tests/fake_cuda/fake.h"

#include <nccl.h>

/* NVIDIA's header leaves out the void. */
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);

struct fake_clique {
    int ranks;
    int live; /* communicators not yet destroyed */
};

struct ncclComm {
    struct fake_clique *clique;
    int rank;
    int device;
};

enum fake_collective_kind { FAKE_ALL_REDUCE, FAKE_BROADCAST };

struct fake_collective_call {
    enum fake_collective_kind kind;
    const void *from;
    void *to;
    size_t count;
    ncclDataType_t type; /* ncclFloat32, ncclFloat16, ncclBfloat16 */
    bool mean;
    int root;
    ncclComm_t comm;
    cudaStream_t stream;
    bool taken; /* collective.c has put it into a collective */
};

size_t fake_type_size(ncclDataType_t type);
/* Matches the calls of the ranks in order and queues them on their streams; nothing is queued when they do not match. */
ncclResult_t fake_collectives_start(const struct fake_collective_call *calls, int count);

#endif
