/* Between the files that check machines, find routes and free what both made. */
#ifndef MGB_TOPO_MACHINE_H
#define MGB_TOPO_MACHINE_H

#include <mgb/machine.h>

#define MGB_MACHINE_DEVICES_MOST 131073 /* /cpu:0 and 131,072 GPUs */
#define MGB_MACHINE_WIRES_MOST 1048576

/* The wires at each end (a device, or device_count + a switch): wires[first[end]] to wires[first[end + 1] - 1], in order
 * of index. */
struct mgb_machine_ends {
    int count;
    int *first, *wires;
};
enum mgb_status mgb_machine_ends_make(struct mgb_machine_ends **out,
                                      const struct mgb_machine *machine);
void mgb_machine_ends_free(struct mgb_machine_ends *ends); /* NULL is fine */

/* Numbers what hangs together without wires of kind "network" and without passing a GPU, in the order of devices:
 * node[end], -1 where no device is. `node` has room for all ends. Returns how many there are. */
int mgb_machine_nodes(int *node, const struct mgb_machine *machine);

/* The routes from one device. `level` is the number of wires, -1 where none leads; of the best route so far `gbps` is the
 * narrowest wire, `latency_us` the sum and `via` the last wire as in struct mgb_route. */
struct mgb_machine_search {
    int *level, *via, *queue;
    double *gbps, *latency_us;
};
enum mgb_status mgb_machine_search_make(struct mgb_machine_search *out,
                                        const struct mgb_machine *machine);
void mgb_machine_search_done(struct mgb_machine_search *search);
/* `to`: where it may end; -1: all devices. */
void mgb_machine_search_run(struct mgb_machine_search *search, const struct mgb_machine *machine,
                            int from, int to);

/* route_near.c: the route where there is a single shortest one and it is found among few ends; false: search. */
bool mgb_machine_route_near(struct mgb_route *out, const struct mgb_machine *machine, int from,
                            int to);

/* The ends of a wire by name, for messages. Returns `out`. */
char *mgb_machine_end_name(char out[MGB_DEVICE_NAME_MAX], const struct mgb_machine *machine,
                           int end);
/* For qsort: pairs by from and to. */
int mgb_machine_pair_order(const void *a, const void *b);
/* NULL where nothing was said of these two. */
const struct mgb_machine_pair *mgb_machine_find_pair(const struct mgb_machine *machine, int from,
                                                     int to);

#endif
