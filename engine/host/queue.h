/* Queues, events and the commands between them. A queue's thread reads a command only after the submitter has published
 * it, and the ring only while there is a command in it. */
#ifndef MGB_HOST_QUEUE_H
#define MGB_HOST_QUEUE_H

#include "engine/host/host.h"

struct mgb_event {
    uint64_t recorded;        /* number of record calls so far; the submitter's */
    _Atomic uint64_t reached; /* the newest of them that happened */
    _Atomic int64_t time_ns;
    struct mgb_gate gate;
};

enum mgb_command_kind {
    MGB_COMMAND_RECORD,
    MGB_COMMAND_WAIT,
    MGB_COMMAND_LAUNCH,
    MGB_COMMAND_COPY,
    MGB_COMMAND_FILL,
    MGB_COMMAND_REDUCE,
    MGB_COMMAND_NORM,
    MGB_COMMAND_CLIP,
    MGB_COMMAND_UPDATE,
    MGB_COMMAND_ALLREDUCE,
    MGB_COMMAND_CAST,
    MGB_COMMAND_MERGE,
};

struct mgb_command {
    enum mgb_command_kind kind;
    union {
        struct {
            struct mgb_event *event;
            uint64_t generation;
        } order; /* record, wait */
        struct {
            struct mgb_kernel *kernel;
            struct mgb_launch launch;
        } launch;
        struct {
            void *to;
            const void *from;
            int64_t bytes;
        } copy; /* fill too */
        struct {
            void *to;
            const void *from;
            int64_t count;
            enum mgb_wire_type type;
            enum mgb_cast way;
        } cast;
        struct { /* reduce, norm, clip */
            float *to;
            const float *const *sources;
            const int64_t *counts;
            int64_t count;
            int source_count;
            struct mgb_clip clip;
        } sum;
        struct {
            float *mean, *variance;
            const float *const *sources;
            const int64_t *rows;
            int64_t count;
            int towers;
        } merge;
        struct mgb_update update;
        struct {
            struct mgb_host_collective *meeting;
            int index;
        } collective;
    };
};

struct mgb_queue {
    struct mgb_host *host;
    struct mgb_queue *next;
    struct mgb_queue_request request;
    pthread_t thread;
    bool started;
    uint64_t mark, waited; /* tail at the last drain; pushes that found the ring full since */
    struct mgb_command *ring;
    uint64_t capacity; /* a power of two */
    _Atomic uint64_t head, tail;
    _Atomic uint64_t wake_at; /* value of head that the submitter waits for */
    atomic_bool stop;
    atomic_int doing; /* the command under way (kind), -1: none */
    _Atomic(const char *) doing_name;
    struct mgb_gate work, moved;
};

/* queue.c */
enum mgb_status mgb_host_queue_make(void *context, struct mgb_queue **out,
                                    const struct mgb_queue_request *request);
void mgb_host_queue_free(struct mgb_queue *queue);
/* Appends a command; waits while the ring is full. Fails when the backend may only be closed. */
enum mgb_status mgb_host_push(struct mgb_queue *queue, const struct mgb_command *command);
enum mgb_status mgb_host_drain(void *context, int64_t timeout_ns);

/* work.c: runs a command in its queue's thread. */
enum mgb_status mgb_host_perform(struct mgb_queue *queue, const struct mgb_command *command);
const char *mgb_host_command_name(const struct mgb_command *command);

/* collective.c */
enum mgb_status mgb_host_allreduce(struct mgb_queue *const *queues, float *const *buffers,
                                   int count_of_queues, int64_t count,
                                   enum mgb_allreduce algorithm);
enum mgb_status mgb_host_allreduce_wire(struct mgb_queue *const *queues, void *const *buffers,
                                        int count_of_queues, int64_t count,
                                        enum mgb_allreduce algorithm, enum mgb_wire_type type);
void mgb_host_meet(struct mgb_queue *queue, const struct mgb_command *command);

#endif
