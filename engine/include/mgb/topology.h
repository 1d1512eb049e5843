/* What a machine consists of: devices and the links between them. Filled by a backend's probe (measured machines) or by
 * a machine file (simulated ones); plain data, read by the planner and shown to users.
 *
 * Why device *names* and device *indices* are both here: users, scripts and the database speak names (/gpu:1); plans
 * speak indices into a topology, because a plan belongs to one topology. */
#ifndef MGB_TOPOLOGY_H
#define MGB_TOPOLOGY_H

#include <mgb/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mgb_device_kind {
    MGB_DEVICE_UNSET,  /* no device was named */
    MGB_DEVICE_CPU,    /* /cpu:0: the host, where input arrives */
    MGB_DEVICE_GPU,    /* /gpu:N: what towers run on (a CPU device on the host backend) */
    MGB_DEVICE_SPREAD, /* over the listed GPUs, balanced by bytes */
};

struct mgb_device_name {
    enum mgb_device_kind kind;
    int index;
    int host; /* rank; 0 unless several machines take part */
};

#define MGB_DEVICE_NAME_MAX 32

/* Reads any usual spelling: "/gpu:1", "gpu:1", "GPU:1", "/device:GPU:1", "/host:1/gpu:0",
 * "/job:localhost/replica:0/task:0/device:GPU:1", and "spread". "xla_gpu:0" is not a GPU. MGB_INVALID otherwise. */
enum mgb_status mgb_device_parse(struct mgb_device_name *out, const char *text);
/* Canonical spelling ("/gpu:1", "/host:1/gpu:0", "spread", "" when unset) into `out`; returns `out`. */
char *mgb_device_format(char out[MGB_DEVICE_NAME_MAX], struct mgb_device_name name);
bool mgb_device_equal(struct mgb_device_name a, struct mgb_device_name b);

enum mgb_device_class { MGB_CLASS_CPU, MGB_CLASS_CUDA, MGB_CLASS_SIMULATED };

struct mgb_device {
    struct mgb_device_name name;
    enum mgb_device_class class
        ;                   /* what it really is: /gpu:1 of the host backend is MGB_CLASS_CPU */
    char label[96];         /* "AMD EPYC, 2 cores", "NVIDIA H200" */
    int64_t memory_bytes;   /* what may be planned on it; 0: not limited */
    int physical;           /* physical index; several logical devices may share one */
    char uuid[48], pci[24]; /* empty where there is none */
    char capability[8];     /* CUDA's, "9.0"; empty where there is none */
    int cores;              /* multiprocessors of a GPU; 0: not known */
    int clock_mhz;          /* the highest of its compute units; 0: not known */
    int driver_index;       /* of a CUDA device, as nvidia-smi numbers them; -1: not known */
};

/* What copying with peer access showed, against copies by way of the host. */
enum mgb_peer_verdict {
    MGB_PEER_UNTRIED,
    MGB_PEER_GOOD,
    MGB_PEER_SLOW,    /* slower than by way of the host */
    MGB_PEER_BAD,     /* bytes arrived damaged */
    MGB_PEER_REFUSED, /* the driver does not enable it for this pair */
};
/* "untried", "good", "slow", "bad", "refused"; never NULL. */
const char *mgb_peer_verdict_name(enum mgb_peer_verdict verdict);

struct mgb_link {
    int from, to;      /* device indices */
    double gbps;       /* 1e9 bytes a second, one way; 0: not measured */
    double latency_us; /* 0: not measured */
    bool peer;         /* peer access possible */
    bool
        direct; /* peer access is in use; what follows is of pairs of GPUs between which it was tried */
    enum mgb_peer_verdict verdict;
    double peer_gbps, peer_latency_us;     /* with peer access; 0: not measured */
    double staged_gbps, staged_latency_us; /* by way of the host; 0: not measured */
};

/* What sensors of a device say. Unknown: MGB_UNSENSED. */
#define MGB_UNSENSED INT64_MIN
struct mgb_sensed {
    int64_t clock_khz, memory_clock_khz, power_mw;
    int64_t temperature_mc;  /* thousandths of a degree Celsius */
    int64_t utilisation_ppm; /* millionths */
    int64_t used_bytes;      /* memory, other processes included */
    bool throttle_known;
    char throttle[96]; /* reasons, comma separated; "": none */
};

struct mgb_topology {
    char machine[64]; /* a name for the machine */
    int device_count, link_count;
    struct mgb_device *devices; /* devices[0] is always /cpu:0 */
    struct mgb_link *links;
};

void mgb_topology_done(struct mgb_topology *topology);
/* Index of a device or -1. */
int mgb_topology_find(const struct mgb_topology *topology, struct mgb_device_name name);
/* "/cpu:0 /gpu:0 ... /gpu:3" for messages, into `out`; returns `out`. */
char *mgb_topology_list(char *out, size_t size, const struct mgb_topology *topology);

#endif
