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
};

struct mgb_link {
    int from, to;      /* device indices */
    double gbps;       /* 1e9 bytes a second, one way; 0: not measured */
    double latency_us; /* 0: not measured */
    bool peer;         /* peer access possible */
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
