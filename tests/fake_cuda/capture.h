/* Capturing streams into graphs: between capture.c, which listens to streams, graph.c, which plays, and event.c. Every
 * function's caller holds the lock unless it says otherwise. */
#ifndef FAKE_CAPTURE_H
#define FAKE_CAPTURE_H

#include "tests/fake_cuda/fake.h"

#define FAKE_MAX_CHAINS 64

/* What was captured: the work of each stream is a chain, and marks (recorded events) order chains. */
enum fake_step_kind { FAKE_STEP_OP, FAKE_STEP_MARK, FAKE_STEP_WAIT, FAKE_STEP_EVENT };
struct fake_step {
    enum fake_step_kind kind;
    int chain, mark;
    struct fake_op *op;
    cudaEvent_t event; /* recorded anew by each launch */
};

/* Never freed, since streams may play it still when its graph is gone; the list keeps it in sight of leak checkers. */
struct fake_body {
    struct fake_body *next;
    struct fake_step *steps; /* in the order of the calls */
    size_t step_count, step_room, node_count;
    int chain_count, mark_count;
    int device[FAKE_MAX_CHAINS];
};

struct fake_chain; /* a stream's part of a capture */

void fake_chain_append(struct fake_chain *chain, struct fake_op *op);
/* An event recorded in the chain: a number that says which, and the capture's. */
int fake_chain_mark(struct fake_chain *chain, unsigned *capture);
/* The chain's launches record the event for the world outside. */
void fake_chain_add_event(struct fake_chain *chain, cudaEvent_t event);
/* The stream waits for such an event, and joins its capture if it is in none. */
cudaError_t fake_capture_wait(cudaStream_t stream, unsigned capture, int mark);
/* The chain's capture cannot end well any more; `why` is returned. */
cudaError_t fake_chain_spoil(struct fake_chain *chain, cudaError_t why);
void fake_capture_spoil(unsigned capture);       /* nothing when it has ended */
void fake_chain_leave(struct fake_chain *chain); /* its stream is destroyed */

/* For calls that CUDA calls potentially unsafe: cudaErrorStreamCaptureUnsupported when a capture forbids them to this
 * thread, and the capture is spoiled. The caller does not hold the lock. */
cudaError_t fake_capture_unsafe(void);
#define FAKE_UNSAFE()                                                                              \
    do {                                                                                           \
        cudaError_t unsafe_ = fake_capture_unsafe();                                               \
        if (unsafe_ != cudaSuccess)                                                                \
            return fake_error(unsafe_);                                                            \
    } while (0)

/* event.c: the event's newest recording is that of the stream now; nothing when it was destroyed. */
void fake_event_record(cudaEvent_t event, cudaStream_t stream);

/* graph.c */
cudaGraph_t fake_graph_make(struct fake_body *body);
int fake_graphs_live(void);

/* cudnn.c */
int fake_cudnn_live(void);

#endif
