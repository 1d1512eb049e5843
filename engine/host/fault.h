/* Planted device faults, for tests of what happens then. MGBENCH_FAULT holds them, separated by commas:
 *     oom:/gpu:1:launch=5     the 5th operator launched on /gpu:1 fails with MGB_OOM (once)
 *     hang:/gpu:1:launch=5    the 5th operator launched on /gpu:1 never ends, until its queue is freed
 *     slow:/gpu:1:us=2000     every operator on /gpu:1 takes 2000 us longer
 * Launches count from 1 over all queues of the device since the backend was opened. What stands there befalls the process that
 * was started with it: a worker that the supervisor brings back has what follows the next ';', and no fault where none does. */
#ifndef MGB_HOST_FAULT_H
#define MGB_HOST_FAULT_H

#include <mgb/topology.h>

enum mgb_fault_kind { MGB_FAULT_OOM, MGB_FAULT_HANG, MGB_FAULT_SLOW };

struct mgb_fault {
    enum mgb_fault_kind kind;
    int device;
    long long value; /* launch number, or microseconds */
};

#define MGB_MAX_FAULTS 8
struct mgb_host_faults {
    int count;
    struct mgb_fault at[MGB_MAX_FAULTS];
};

/* Reads `text` up to a ';' (NULL or "": none). MGB_INVALID quotes what cannot be read, MGB_MISSING a device that is not there. */
enum mgb_status mgb_host_faults_read(struct mgb_host_faults *out, const char *text,
                                     const struct mgb_topology *topology);
/* The fault that hits launch number `launch` on `device`, or NULL. */
const struct mgb_fault *mgb_host_fault_find(const struct mgb_host_faults *faults, int device,
                                            long long launch, enum mgb_fault_kind kind);

#endif
