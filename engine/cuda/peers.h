/* Peer access by ordered pair of GPUs; see peers.c. */
#ifndef MGB_CUDA_PEERS_H
#define MGB_CUDA_PEERS_H

#include "engine/cuda/cuda.h"

struct mgb_cuda_peer { /* of a pair: copies from one GPU to another */
    bool tried, direct;
    enum mgb_peer_verdict verdict;
    double peer_gbps, peer_latency_us, staged_gbps, staged_latency_us; /* 0: not measured */
};

struct mgb_cuda_peer *mgb_cuda_peer_find(const struct mgb_cuda *cuda, int from, int to);
/* Before the first copy from one GPU (into gpus) to another: tries peer access if it was not turned down, enables it when
 * it is good. Nothing of the two may be running that counts on it. */
enum mgb_status mgb_cuda_peer_open(struct mgb_cuda *cuda, int from, int to);
void mgb_cuda_peers_close(struct mgb_cuda *cuda);
/* The slot of the backend. */
enum mgb_status mgb_cuda_path(void *context, struct mgb_link *link);

#endif
