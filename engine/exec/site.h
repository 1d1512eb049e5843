/* Where plans are played: an opened backend, the arenas held on its devices and the queues in use. Knows no plans. */
#ifndef MGB_EXEC_SITE_H
#define MGB_EXEC_SITE_H

#include "engine/backend/backend.h"
#include "engine/base/vector.h"
#include <mgb/plan.h>

#define MGB_ARENA_KINDS 3 /* enum mgb_arena_kind */

struct mgb_arena {
    void *base; /* NULL: none held */
    int64_t bytes;
    bool closed; /* made inaccessible */
};

struct mgb_site_queue {
    struct mgb_queue_request request;
    struct mgb_queue *queue;
    int users;
};

struct mgb_site {
    const struct mgb_backend *backend;
    void *context;
    const struct mgb_topology *topology;
    struct mgb_backend_options options;
    bool canaries;            /* arenas are filled with a pattern when they are made */
    struct mgb_arena *arenas; /* kind * device_count + device */
    int64_t generation;       /* changes when an address does */
    mgb_vector(struct mgb_site_queue) queues;
};

/* `topology` is borrowed until close. */
enum mgb_status mgb_site_open(struct mgb_site *out, const struct mgb_backend *backend,
                              const struct mgb_topology *topology,
                              const struct mgb_backend_options *options, bool canaries);
void mgb_site_close(struct mgb_site *site);

struct mgb_arena *mgb_site_arena(const struct mgb_site *site, enum mgb_arena_kind kind, int device);
/* Makes an arena of exactly `bytes` (0: none). What it held is lost unless it has that size already. After a failure
 * (MGB_OOM) there is none. */
enum mgb_status mgb_site_resize(struct mgb_site *site, enum mgb_arena_kind kind, int device,
                                int64_t bytes);
/* Lasting arenas become old ones and the other way round. */
void mgb_site_swap_lasting(struct mgb_site *site);
/* Bytes that every arena of the device comes to. */
int64_t mgb_site_held(const struct mgb_site *site, int device);
/* Makes all arenas accessible. */
enum mgb_status mgb_site_open_arenas(struct mgb_site *site);
enum mgb_status mgb_site_set_closed(struct mgb_site *site, struct mgb_arena *arena, bool closed);
/* End of the last byte of an arena that no longer holds the pattern; its size when there are no canaries. */
enum mgb_status mgb_site_high_water(struct mgb_site *site, int64_t *bytes, enum mgb_arena_kind kind,
                                    int device);

/* The queue that serves such requests, made when there is none; give it back when done. */
enum mgb_status mgb_site_queue_get(struct mgb_site *site, struct mgb_queue **out,
                                   const struct mgb_queue_request *request);
void mgb_site_queue_put(struct mgb_site *site, struct mgb_queue *queue);
/* Frees queues that nobody uses. */
void mgb_site_trim(struct mgb_site *site);

#endif
