/* The contract between the engine and what plays a plan for real. A backend is a const record of functions, filled by
 * designated initialisers; every slot is required unless it says "optional". The engine asks what a backend can do, never
 * who it is.
 *
 * Threads. One thread (the submitter) calls everything here. Work runs elsewhere: queues execute in order, each on its
 * own; events order queues among each other without the host waiting.
 *
 * Memory. Arenas are blocks of device memory; addresses are base + offset and mean something to their device only.
 * Pointers handed to launch/copy/... (operand arrays, source lists, values) stay valid and unchanged until the next
 * drain returns; nothing is copied and nothing is allocated while a step runs.
 *
 * Failure. A slot that fails leaves a message. Work that fails on a queue poisons the whole backend: all queues skip
 * what is left, drain returns the first failure with its message, and the next step starts clean, unless the fault is
 * sticky (MGB_DEVICE), after which only closing is allowed. */
#ifndef MGB_BACKEND_BACKEND_H
#define MGB_BACKEND_BACKEND_H

#include "engine/graph/facts.h"
#include <mgb/optimizer.h>
#include <mgb/placement.h>

/* The plan's words for kinds, without the plan: backend/ must not know plans. */
struct mgb_backend_options {
    int64_t gpu_memory; /* bytes a GPU device may give to arenas; 0: what it has */
    bool logical;       /* several logical devices on a physical one are allowed */
    enum mgb_choice peer_access, pinned;
};

enum mgb_capability {
    MGB_CAN_ALLREDUCE,    /* has the allreduce slot for these devices */
    MGB_CAN_PEER_COPY,    /* copies between the two devices without staging */
    MGB_CAN_PROTECT,      /* has the protect slot */
    MGB_CAN_LIMIT_MEMORY, /* gpu_memory is enforced */
    MGB_CAN_REPLAY        /* has the slots under "replay" */
};

/* A prepared operator: primitives made, cached in the backend until close, shared between plans. */
struct mgb_kernel;
struct mgb_queue;
struct mgb_event;
struct mgb_replay;

struct mgb_kernel_request {
    int device;
    struct mgb_node_use use;         /* the very request the facts were asked with */
    struct mgb_operator_facts facts; /* and the answer */
};

/* What changes from step to step; read when the work runs. */
struct mgb_step_values {
    int64_t step; /* from 0, over the whole run; key of dropout masks */
    uint64_t seed;
    float lr;        /* after schedule and decay */
    int64_t updates; /* optimizer steps done before this one; adam's t is updates + 1 */
};

struct mgb_launch {
    void *const *inputs;  /* in node order; 16-byte aligned at least, 64 in arenas */
    void *const *outputs; /* NULL for unwanted ones */
    void *workspace;      /* NULL when the facts asked for none */
    const char *name;     /* of the operator, for messages; may be NULL */
    int64_t first_row;    /* of the global batch: key of dropout masks */
    float scale;          /* losses' gradients */
    const struct mgb_step_values *values;
};

struct mgb_update_item {
    float *weight;
    const float *gradient;
    float *slots[2];
    int64_t count;
};
/* With a scale: min(1, norm / (sqrt(sum) / scale)) / scale, or -1 where the sum is not finite. */
struct mgb_clip {
    float norm;  /* INFINITY: no clipping */
    float scale; /* a power of two; 0: none */
};
struct mgb_update {
    const struct mgb_optimizer *optimizer;
    const struct mgb_update_item *items;
    int item_count;
    const float *clip; /* factor on the device; NULL: none; below 0: nothing changes */
    /* On the host. Not NULL: no optimizer, but moving statistics: weight = momentum weight + (1 - momentum) gradient. */
    const float *momentum;
    const struct mgb_step_values *values;
};

enum mgb_cast { MGB_CAST_NARROW, MGB_CAST_WIDEN, MGB_CAST_ROUND };
enum mgb_queue_use { MGB_USE_COMPUTE, MGB_USE_COPY };
struct mgb_queue_request {
    enum mgb_queue_use use;
    int device;  /* compute: whose; copy: destination */
    int from;    /* copy: source device */
    int threads; /* CPU threads of a compute queue; ignored on GPUs */
};

struct mgb_backend {
    const char *name; /* "host", "cuda" */

    /* --- the machine ------------------------------------------------------------------------------------- */
    /* What is there; touches no device memory. MGB_MISSING says why there is nothing (no plugin, no driver, no device,
     * hidden by environment). The caller frees the topology. */
    enum mgb_status (*probe)(struct mgb_topology *out);
    /* A context for the devices of `topology` (borrowed until close). Devices are opened when first used. */
    enum mgb_status (*open)(void **out, const struct mgb_topology *topology,
                            const struct mgb_backend_options *options);
    void (*close)(void *context); /* queues, events and arenas are gone before */
    bool (*can)(void *context, enum mgb_capability capability, int device, int other);
    /* Optional. Versions of the libraries and drivers behind it, as members of a JSON object ("\"oneDNN\":\"2.7.3\""). */
    void (*versions)(char *out, size_t size);
    void (*note)(void *context, char *out,
                 size_t size); /* optional: a line on how it works, or "" */
    /* Optional. Whether a fault has cost this process its devices for good: only a new one can go on. Any thread. */
    bool (*lost)(void);
    /* Optional. What the sensors of a device say now; unknown readings keep the value they came with. Any thread, one at a
     * time; may take as long as the driver likes. MGB_UNSUPPORTED when nothing can be read. */
    enum mgb_status (*sense)(struct mgb_sensed *out, const struct mgb_device *device);
    /* Optional. Tries the way between two devices as the first queue for copies along it does, and fills in what that
     * showed (struct mgb_link); leaves alone what is not known. Only while idle. */
    enum mgb_status (*path)(void *context, struct mgb_link *link);
    /* Optional. What one core of a CPU device reaches at best in f32, 1e12 operations a second, a multiply-add being 2;
     * takes about `budget_ns`, in the calling thread alone. */
    enum mgb_status (*core_peak)(double *tflops, int64_t budget_ns);

    /* --- operators --------------------------------------------------------------------------------------- */
    /* As mgb_fact_source.describe. */
    enum mgb_status (*describe)(void *context, int device, const struct mgb_node_use *use,
                                struct mgb_operator_facts *out);
    /* The prepared operator; borrowed, lives until close; the same request gives the same kernel. */
    enum mgb_status (*kernel)(void *context, struct mgb_kernel **out,
                              const struct mgb_kernel_request *request);

    /* --- memory ------------------------------------------------------------------------------------------ */
    /* At least 64-byte aligned, page-aligned on hosts; contents undefined. MGB_OOM when the device cannot. */
    enum mgb_status (*arena_make)(void *context, void **base, int device, int64_t bytes);
    void (*arena_free)(void *context, int device, void *base, int64_t bytes);
    /* Optional. Makes an arena inaccessible or accessible again; only while idle. */
    enum mgb_status (*protect)(void *context, void *base, int64_t bytes, bool accessible);
    /* Between host memory and a device, synchronous, only while idle. */
    enum mgb_status (*write)(void *context, int device, void *address, const void *host,
                             int64_t bytes);
    enum mgb_status (*read)(void *context, int device, void *host, const void *address,
                            int64_t bytes);

    /* --- order ------------------------------------------------------------------------------------------- */
    enum mgb_status (*queue_make)(void *context, struct mgb_queue **out,
                                  const struct mgb_queue_request *request);
    void (*queue_free)(struct mgb_queue *queue);
    /* A timed event; belongs to queues of `device`. */
    enum mgb_status (*event_make)(void *context, struct mgb_event **out, int device);
    void (*event_free)(struct mgb_event *event);
    enum mgb_status (*record)(struct mgb_queue *queue, struct mgb_event *event);
    enum mgb_status (*wait)(struct mgb_queue *queue,
                            struct mgb_event *event); /* the newest record before this call */
    /* When the newest record happened, on the session clock (ns, mgb_clock_ns); after drain only.
     * `uncertainty_ns` may be NULL. */
    enum mgb_status (*event_time)(struct mgb_event *event, int64_t *ns, int64_t *uncertainty_ns);
    /* Optional: record, where only waits will ask for the event; outside of replays it has a time all the same. */
    enum mgb_status (*mark)(struct mgb_queue *queue, struct mgb_event *event);
    /* Waits until everything enqueued is done or a queue has failed; MGB_TIMEOUT after `timeout_ns` (0: none), naming
     * device and work that did not end. */
    enum mgb_status (*drain)(void *context, int64_t timeout_ns);

    /* --- work: all asynchronous, in queue order ---------------------------------------------------------- */
    enum mgb_status (*launch)(struct mgb_queue *queue, struct mgb_kernel *kernel,
                              const struct mgb_launch *launch);
    enum mgb_status (*copy)(struct mgb_queue *queue, void *to, const void *from, int64_t bytes);
    enum mgb_status (*fill)(struct mgb_queue *queue, void *to, int64_t bytes); /* zero */
    /* to[i] = sources[0][i] + sources[1][i] + ... in that order; `to` may be sources[0]. All on the queue's device. */
    enum mgb_status (*reduce)(struct mgb_queue *queue, float *to, const float *const *sources,
                              int source_count, int64_t count);
    /* mean[i], variance[i] of all values of `towers` towers together, of which sources[k][i] is the mean, sources[towers + k][i]
     * the variance and rows[k] the number, up to a factor; combined in the order of k, in double (Chan, Golub and LeVeque
     * 1983). All on the queue's device; the results may not be sources. */
    enum mgb_status (*merge)(struct mgb_queue *queue, float *mean, float *variance,
                             const float *const *sources, const int64_t *rows, int towers,
                             int64_t count);
    /* to[k] = sum of squares of sources[k][0 .. counts[k]) in chunks of 4096 elements, each summed in double in order,
     * chunks added in order. */
    enum mgb_status (*norm)(struct mgb_queue *queue, float *to, const float *const *sources,
                            const int64_t *counts, int source_count);
    /* *to = min(1, norm / sqrt(sum of sources[k][0 .. counts[k]) in order, in double)); scaled: see struct mgb_clip. */
    enum mgb_status (*clip)(struct mgb_queue *queue, float *to, const float *const *sources,
                            const int64_t *counts, int source_count, struct mgb_clip clip);
    enum mgb_status (*update)(struct mgb_queue *queue, const struct mgb_update *update);
    /* `count` numbers between f32 and a 16-bit wire type, rounded to nearest, ties to even, subnormals kept; bits do not
     * depend on the device. MGB_CAST_ROUND: f32 to f32 by way of the wire type; `to` may be `from` there only. */
    enum mgb_status (*cast)(struct mgb_queue *queue, void *to, const void *from, int64_t count,
                            enum mgb_wire_type type, enum mgb_cast way);
    /* One call a collective: buffers[k] on queues[k], summed in place, in the order of k on every device (a tree: each k
     * takes the sums of 2k + 2 and 2k + 1, in that order; GPUs may associate otherwise, but the same on all). Optional; MGB_CAN_ALLREDUCE. */
    enum mgb_status (*allreduce)(struct mgb_queue *const *queues, float *const *buffers,
                                 int count_of_queues, int64_t count, enum mgb_allreduce algorithm);
    /* The same of 16-bit numbers: added in f32 in the order of k, the sum rounded once, the same bits on all (GPUs may round partial sums
     * too). Optional, with `allreduce`. */
    enum mgb_status (*allreduce_wire)(struct mgb_queue *const *queues, void *const *buffers,
                                      int count_of_queues, int64_t count,
                                      enum mgb_allreduce algorithm, enum mgb_wire_type type);

    /* --- replay (MGB_CAN_REPLAY) ------------------------------------------------------------------------- */
    /* From here to capture_end or capture_drop what is enqueued is kept and not run: records, waits and work on `queues`
     * (borrowed until then), no other. Only while idle, and of work that ran before. Pointers handed in live until the
     * replay is freed; step values and CPU operands behind them may change between replays. A failure of this call drops
     * the capture; of others it is the caller's to drop. */
    enum mgb_status (*capture_begin)(void *context, struct mgb_queue *const *queues, int count);
    enum mgb_status (*capture_end)(void *context, struct mgb_replay **out);
    void (*capture_drop)(void *context); /* queues serve as before */
    /* Enqueues all that was kept, as if by the calls once more; a drain is between any two. */
    enum mgb_status (*replay)(struct mgb_replay *replay);
    /* Only while idle, before its queues and events; NULL allowed. */
    void (*replay_free)(struct mgb_replay *replay);
};

/* The registry: the only place that knows which backends there are. */
const struct mgb_backend *
mgb_backend_find(const char *name); /* "host", "cuda"; NULL with a message */
/* "auto": cuda where it finds a device, else host; `remark` (may be NULL) receives one line why. */
enum mgb_status mgb_backend_choose(const struct mgb_backend **out, struct mgb_topology *topology,
                                   const char *name, char *remark, size_t size);

extern const struct mgb_backend mgb_host_backend; /* engine/host */

/* CPU work for a foreign stream: runs in the calling thread, start to end. */
struct mgb_cpu_kernels {
    void (*reduce)(float *to, const float *const *sources, int source_count, int64_t count);
    void (*norm)(float *to, const float *const *sources, const int64_t *counts, int source_count);
    void (*clip)(float *to, const float *const *sources, const int64_t *counts, int source_count,
                 struct mgb_clip clip);
    void (*update)(const struct mgb_update *update);
    void (*cast)(void *to, const void *from, int64_t count, enum mgb_wire_type type,
                 enum mgb_cast way);
    void (*merge)(float *mean, float *variance, const float *const *sources, const int64_t *rows,
                  int towers, int64_t count);
    enum mgb_status (*describe)(const struct mgb_node_use *use, struct mgb_operator_facts *out);
    enum mgb_status (*kernel)(struct mgb_kernel **out,
                              const struct mgb_kernel_request *request); /* caller frees */
    void (*kernel_free)(struct mgb_kernel *kernel);
    enum mgb_status (*run)(struct mgb_kernel *kernel, const struct mgb_launch *launch);
};

extern const struct mgb_cpu_kernels mgb_host_cpu_kernels; /* engine/host */

/* The CUDA plugin (libmgb_cuda.so) exports one function of this type under this name. It receives the CPU kernels that
 * serve /cpu:0 there, so that it need not link the host backend. */
#define MGB_CUDA_ENTRY "mgb_cuda_entry"
typedef const struct mgb_backend *mgb_cuda_entry(const struct mgb_cpu_kernels *cpu);
/* And the text MGB_CONTRACT: one built from other headers than the program is refused before anything of it is called. */
#define MGB_CUDA_CONTRACT "mgb_cuda_contract"

#endif
