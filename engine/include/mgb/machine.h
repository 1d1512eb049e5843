/* A machine as the simulator sees it: devices with their speed, wires and switches between them, the host. Plain data with
 * units; a machine file (app/script) or a calibration fills it, engine/topo checks it and makes a topology of it.
 *
 * Rates are decimal (1 GB/s = 1e9 bytes a second, 1 TFLOPS = 1e12 a second, a multiply-add being 2), one way. 0 means "not
 * given": what then holds is said beside each field. */
#ifndef MGB_MACHINE_H
#define MGB_MACHINE_H

#include <mgb/topology.h>

/* Share of the peak that is reached, by size: linear between knots in the logarithm of `at`, constant beyond them. `at`
 * rises strictly, `value` lies in (0, 4]: above 1 where an operator needs fewer operations than are counted (Winograd). */
#define MGB_CURVE_MOST 12
struct mgb_curve {
    int count; /* 0: 1 everywhere */
    double at[MGB_CURVE_MOST], value[MGB_CURVE_MOST];
};
double mgb_curve_at(const struct mgb_curve *curve, double at);

/* How fast an operator of some kind is against what roofline and curves say of it: 2 takes half the time. One of
 * "conv2d_3x3" is of kernels of that size with stride 1, in f32 on its own, where it stands instead of "conv2d"'s. */
struct mgb_machine_factor {
    char kind
        [32]; /* as in the graph's text, "conv2d_grad_w"; or of a task: "copy", "reduce", "update", ... */
    double speed;
};

struct mgb_machine_device {
    struct mgb_device
        device; /* name, label, memory_bytes (0: not limited), cores; class MGB_CLASS_SIMULATED */
    double tflops[4]; /* peak of products by enum mgb_precision; f32 is given, others 0: as f32 */
    double memory_gbps;
    double launch_us; /* between the end of a task and the start of the next on a compute queue */
    /* Efficiency by flops, and by bytes, of a task. Flops are of f32: another precision that is n times faster reaches the
     * same share with n times as many. */
    struct mgb_curve compute, memory;
    int factor_count;
    struct mgb_machine_factor *factors;
    int copies_in, copies_out; /* copy engines: how many copies go on at once; 0: 1 */
    bool one_engine;           /* a single one for both directions */
    int board;                 /* devices of a board are slowed by each other; -1: alone */
    double board_speed;        /* of this one while another of its board computes; 0: 1 */
    double speed;              /* of this very device against its kind, all times; 0: 1 */
    int node; /* the host it is in, from 0: those joined without wires of kind "network"; the check fills it in */
};

/* A wire between two ends: devices by index, then switches by device_count + index. */
struct mgb_machine_wire {
    int a, b;
    double gbps, back_gbps; /* a to b, and b to a; back 0: as gbps */
    double latency_us;
    char kind[16]; /* "pcie", "nvlink", "qpi", "network", ... */
};

/* What a pair of GPUs reaches with peer access and without. Where a figure is 0 the route over the wires holds: direct with
 * peer access, by way of /cpu:0 without. */
struct mgb_machine_pair {
    int from, to;
    bool no_peer; /* peer access is not possible */
    double on_gbps, on_latency_us, off_gbps, off_latency_us;
};

/* What one operator took, measured alone on the device it was calibrated on. */
struct mgb_machine_cost {
    uint64_t signature; /* mgb_sim_signature: kind, attributes and shapes, without the batch */
    int64_t rows;
    int threads;
    double ns;
};

enum mgb_copy_wait { MGB_COPY_WAITS_NONE, MGB_COPY_WAITS_SENDER, MGB_COPY_WAITS_BOTH };

struct mgb_machine_host {
    int cores;          /* 0: as many as anybody asks for */
    double core_total;  /* what all cores busy do, in cores (1.3 of 2 hyperthreads); 0: cores */
    double memory_gbps; /* shared by all copies to, from and through the host; 0: no bound */
    double
        reduce_gbps; /* bytes read and written a second when gradients are summed on /cpu:0; 0: memory_gbps */
    double pageable_gbps; /* the copy into pinned memory that pageable memory needs; 0: as pinned */
    double submit_us; /* of the submitting thread, a task; 0 when a step is replayed as a graph */
    double step_us;   /* once a step: the framework's own */
    bool
        inputs_ready; /* batches are on the GPUs before a step begins: made there, or copied beside the step before */
    bool
        sums_apart; /* a GPU sums when gradients have come, not in the order of what it computes (TensorFlow 1.x) */
    enum mgb_copy_wait
        copy_waits; /* copies between GPUs also wait for what was queued before them on compute queues */
};

/* Times of collectives: latency a hop and what of the slowest link they reach. */
struct mgb_machine_collective {
    double start_us; /* once */
    double hop_us;   /* a step of the ring or a level of the tree, over the fastest kind of wire */
    double network_hop_us;
    double ring_share, tree_share; /* of the bottleneck wire; 0: 1, 0.92 */
    double switch_gbps;            /* in-switch reduction (NVLS): bus bandwidth; 0: none */
    double
        compute_share; /* of a GPU's compute that goes into it while it goes on beside backward */
};

struct mgb_machine {
    char name[64];
    char summary[128]; /* one line for lists */
    char *source;      /* where the figures come from; never NULL once checked */
    char *file;        /* where it was read; NULL: made by a script */
    int device_count;  /* devices[0] is /cpu:0 */
    struct mgb_machine_device *devices;
    int switch_count;
    char (*switches)[32];
    int wire_count;
    struct mgb_machine_wire *wires;
    int pair_count;
    struct mgb_machine_pair *pairs; /* the check sorts them, by from and to */
    int cost_count;                 /* the check sorts them, by signature, threads and rows */
    struct mgb_machine_cost *costs;
    struct mgb_machine_host host;
    struct mgb_machine_collective collective;
    bool
        cpu_devices; /* /gpu:N are CPU devices: they take `threads` of the host's cores and copy through its memory */
    double device_sigma,
        step_sigma; /* of log-normal slowness: of each device for good, of each device each step */
    double uncertainty;            /* of its times, as a share (standard deviation); 0: not known */
    int node_count;                /* the check fills it in */
    struct mgb_machine_ends *ends; /* wires by their ends: the check makes it */
};

/* MGB_INVALID names machine, field and value: names unique and devices[0] /cpu:0, rates positive, wires between known ends,
 * every device connected to /cpu:0 other than through a GPU, curves rising. Fills in what a default is said for above, and
 * of a CPU without figures 0.05 TFLOPS a core and the host's memory; call it once, before anything else. */
enum mgb_status mgb_machine_check(struct mgb_machine *machine);
/* For who fills a machine: the machine itself and each block it owns. Zeroed; NULL when memory is
 * exhausted. */
void *mgb_machine_block(size_t bytes);
/* A machine of such blocks, with all it owns; devices that follow each other may share factors. NULL is fine. */
void mgb_machine_free(struct mgb_machine *machine);
/* Of all figures and names, apart from summary, source and file: equal for machines that play alike. */
uint64_t mgb_machine_digest(const struct mgb_machine *machine);

/* Devices and links as the planner sees them: a link for each ordered pair, its gbps and latency those of the route or of
 * the pair (GPUs: with peer access where that is possible and not slower). Machines of more than MGB_MACHINE_PAIRED devices
 * have those to and from /cpu:0 only. The caller frees it. */
#define MGB_MACHINE_PAIRED 256
enum mgb_status mgb_machine_topology(struct mgb_topology *out, const struct mgb_machine *machine);

/* The wires from one device to another, never through a third GPU: the widest route of those with the fewest wires, ties
 * to the lower index. An entry is wire * 2, + 1 when it is passed from b to a. MGB_MISSING when there is none. */
#define MGB_ROUTE_MOST 16
struct mgb_route {
    int count;
    int wires[MGB_ROUTE_MOST];
    double gbps, latency_us; /* the narrowest wire's; the sum */
};
enum mgb_status mgb_machine_route(struct mgb_route *out, const struct mgb_machine *machine,
                                  int from, int to);

#endif
