/* Between nccl.c, which takes the calls, and collective.c, which plays them. */
#ifndef FAKE_NCCL_H
#define FAKE_NCCL_H

#include "tests/fake_cuda/fake.h"
#include "tests/fake_cuda/older.h"

/* NVIDIA's header leaves out the void. */
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);

/* Never freed: an operation may look still whether its rank was aborted. */
struct fake_clique {
    struct fake_clique *next;
    int ranks;
    atomic_int aborted[FAKE_MAX_DEVICES];
};

struct ncclComm {
    struct fake_clique *clique;
    int rank;
    int device;
};

enum fake_collective_kind { FAKE_ALL_REDUCE, FAKE_BROADCAST, FAKE_REDUCE };

struct fake_collective_call {
    enum fake_collective_kind kind;
    const void *from;
    void *to;
    size_t count;
    ncclDataType_t type; /* of sums ncclFloat32, ncclFloat16, ncclBfloat16 */
    bool mean;
    int root;
    ncclComm_t comm;
    cudaStream_t stream;
    struct fake_injection wish;
    bool taken; /* collective.c has put it into a collective */
};

size_t fake_type_size(ncclDataType_t type); /* 0: the fake does not take it */
/* Matches the calls of the ranks in order and queues them on their streams; nothing is queued when they do not match.
 * Where a rank is missing and the machine says so, those that are there hang until they are aborted. */
ncclResult_t fake_collectives_start(const struct fake_collective_call *calls, int count);

#endif
