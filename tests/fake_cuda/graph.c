/* Graphs and their launch. Each chain of a graph has a stream of its own, so that two chains are ordered by what was
 * captured of them and by nothing else; a launch comes after what is before it in its stream, and after the last launch
 * of the same executable graph. */
#include "tests/fake_cuda/capture.h"

#include <stdlib.h>

struct CUgraph_st {
    struct CUgraph_st *next;
    struct fake_body *body;
};

struct CUgraphExec_st {
    struct CUgraphExec_st *next;
    const struct fake_body *body;
    cudaStream_t streams[FAKE_MAX_CHAINS];
    struct fake_record *last; /* the end of its last launch, or NULL */
};

struct play_op { /* the operation stays with the graph */
    struct fake_op op;
    struct fake_op *kept;
};

static struct CUgraph_st *graphs; /* under the lock */
static struct CUgraphExec_st *execs;

cudaGraph_t fake_graph_make(struct fake_body *body)
{
    struct CUgraph_st *graph = fake_allocate(sizeof *graph);
    *graph = (struct CUgraph_st){.next = graphs, .body = body};
    graphs = graph;
    return graph;
}

int fake_graphs_live(void)
{
    int count = 0;
    for (const struct CUgraph_st *it = graphs; it; it = it->next)
        count++;
    for (const struct CUgraphExec_st *it = execs; it; it = it->next)
        count++;
    return count;
}

static struct CUgraph_st **graph_link(cudaGraph_t graph)
{
    struct CUgraph_st **link = &graphs;
    while (*link && *link != graph)
        link = &(*link)->next;
    return link;
}

static struct CUgraphExec_st **exec_link(cudaGraphExec_t exec)
{
    struct CUgraphExec_st **link = &execs;
    while (*link && *link != exec)
        link = &(*link)->next;
    return link;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    FAKE_ENTER(cudaErrorUnknown);
    fake_lock();
    struct CUgraph_st **link = graph_link(graph);
    bool live = *link != NULL;
    if (live) {
        *link = graph->next;
        free(graph);
    }
    fake_unlock();
    return fake_error(live ? cudaSuccess : cudaErrorInvalidValue);
}

/* Only how many there are: the fake's nodes cannot be looked at. */
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    FAKE_ENTER(cudaErrorUnknown);
    fake_lock();
    bool live = *graph_link(graph) != NULL;
    if (live)
        *count = graph->body->node_count;
    fake_unlock();
    return fake_error(!live ? cudaErrorInvalidValue : nodes ? cudaErrorNotSupported : cudaSuccess);
}

static void exec_free(struct CUgraphExec_st *exec)
{
    for (int i = 0; i < exec->body->chain_count; i++)
        if (exec->streams[i])
            fake_stream_inner_end(exec->streams[i]);
    fake_record_drop(exec->last);
    free(exec);
}

/* Caller holds the lock. */
static cudaError_t exec_make(cudaGraphExec_t *out, const struct fake_body *body)
{
    struct CUgraphExec_st *exec = fake_allocate(sizeof *exec);
    exec->body = body;
    for (int i = 0; i < body->chain_count; i++) {
        exec->streams[i] = fake_stream_inner(body->device[i]);
        if (!exec->streams[i]) {
            exec_free(exec);
            return cudaErrorUnknown;
        }
    }
    exec->next = execs;
    *out = execs = exec;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    FAKE_ENTER(cudaErrorUnknown);
    *out = NULL;
    if (flags != 0)
        return fake_error(cudaErrorNotSupported);
    fake_lock();
    cudaError_t error = *graph_link(graph) ? exec_make(out, graph->body) : cudaErrorInvalidValue;
    fake_unlock();
    return fake_error(error);
}

/* The same work at the same places, but for arguments? */
static bool bodies_alike(const struct fake_body *a, const struct fake_body *b)
{
    if (a->step_count != b->step_count || a->chain_count != b->chain_count ||
        a->mark_count != b->mark_count)
        return false;
    for (int i = 0; i < a->chain_count; i++)
        if (a->device[i] != b->device[i])
            return false;
    for (size_t i = 0; i < a->step_count; i++) {
        const struct fake_step *x = &a->steps[i];
        const struct fake_step *y = &b->steps[i];
        if (x->kind != y->kind || x->chain != y->chain || x->mark != y->mark ||
            (x->op && x->op->run != y->op->run))
            return false;
    }
    return true;
}

/* Later launches play the other graph, where the two differ in arguments only. */
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info)
{
    FAKE_ENTER(cudaErrorUnknown);
    cudaError_t error = cudaErrorInvalidValue;
    *info = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateError};
    fake_lock();
    if (*exec_link(exec) && *graph_link(graph)) {
        bool alike = bodies_alike(exec->body, graph->body);
        if (alike)
            exec->body = graph->body;
        error = alike ? cudaSuccess : cudaErrorGraphExecUpdateFailure;
        info->result = alike ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    }
    fake_unlock();
    return fake_error(error);
}

/* Does not wait, as the real one: what was launched still runs. */
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    FAKE_ENTER(cudaErrorUnknown);
    fake_lock();
    struct CUgraphExec_st **link = exec_link(exec);
    bool live = *link != NULL;
    if (live) {
        *link = exec->next;
        exec_free(exec);
    }
    fake_unlock();
    return fake_error(live ? cudaSuccess : cudaErrorInvalidValue);
}

static void play_run(struct fake_op *op)
{
    struct fake_op *kept = ((struct play_op *)op)->kept;
    kept->run(kept);
}

static void step_launch(const struct CUgraphExec_st *exec, const struct fake_step *step,
                        struct fake_record **marks)
{
    cudaStream_t stream = exec->streams[step->chain];
    struct play_op *play;
    switch (step->kind) {
    case FAKE_STEP_OP:
        play = fake_allocate(sizeof *play);
        *play = (struct play_op){.op = {.run = play_run, .work = step->op->work}, .kept = step->op};
        fake_stream_push(stream, &play->op);
        break;
    case FAKE_STEP_MARK:
        marks[step->mark] = fake_record_make(2);
        fake_stream_record(stream, marks[step->mark]);
        break;
    case FAKE_STEP_WAIT:
        fake_stream_wait(stream, marks[step->mark]);
        break;
    case FAKE_STEP_EVENT:
        fake_event_record(step->event, stream);
        break;
    }
}

/* The stream waits for all that `from` has been given so far. */
static void stream_after(cudaStream_t stream, cudaStream_t from)
{
    struct fake_record *record = fake_record_make(2);
    fake_stream_record(from, record);
    fake_stream_wait(stream, record);
    fake_record_drop(record);
}

/* Caller holds the lock. */
static void exec_launch(struct CUgraphExec_st *exec, cudaStream_t stream)
{
    const struct fake_body *body = exec->body;
    struct fake_record **marks = fake_allocate((size_t)body->mark_count * sizeof *marks + 1);
    if (exec->last)
        fake_stream_wait(stream, exec->last);
    for (int i = 0; i < body->chain_count; i++)
        stream_after(exec->streams[i], stream);
    for (size_t i = 0; i < body->step_count; i++)
        step_launch(exec, &body->steps[i], marks);
    for (int i = 0; i < body->chain_count; i++)
        stream_after(stream, exec->streams[i]);
    fake_record_drop(exec->last);
    exec->last = fake_record_make(2);
    fake_stream_record(stream, exec->last);
    for (int i = 0; i < body->mark_count; i++)
        fake_record_drop(marks[i]);
    free(marks);
}

/* Into a stream that is captured itself it would be a child graph, which this fake does not have. */
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    FAKE_ENTER(cudaErrorUnknown);
    cudaError_t error = cudaErrorInvalidValue;
    fake_lock();
    if (*exec_link(exec))
        error = fake_stream_device(stream) < 0 ? cudaErrorInvalidResourceHandle : cudaSuccess;
    if (error == cudaSuccess && fake_stream_chain(stream))
        error = fake_chain_spoil(fake_stream_chain(stream), cudaErrorNotSupported);
    if (error == cudaSuccess)
        exec_launch(exec, stream);
    fake_unlock();
    return fake_error(error);
}
