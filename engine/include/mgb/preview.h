/* Looking without running: which devices there are, and what a run would do on them. Nothing is allocated on a device.
 *
 * A preview is what mgb_run_open would start with: the same backend, the same placement in effect, the same step plan.
 * It does not look at memory limits, so that a plan too large for the machine can be shown: mgb_plan_admit judges. */
#ifndef MGB_PREVIEW_H
#define MGB_PREVIEW_H

#include <mgb/plan.h>
#include <mgb/run.h>

/* The devices of a backend ("auto", "host", "cuda"), to be freed by mgb_topology_done. `name` receives the backend that
 * answered (static), `remark` (of `size`, may be NULL) one line why it was chosen, "" when it was asked for. */
enum mgb_status mgb_preview_devices(struct mgb_topology *out, const char **name, char *remark,
                                    size_t size, const char *backend);

/* Tries the ways between all GPUs of that backend, which takes memory on each for a moment, and fills in what the links of
 * its topology showed. */
enum mgb_status mgb_preview_paths(struct mgb_topology *topology, const char *backend);

struct mgb_preview;

/* Reads graph, backend, placement, fresh, optimizer, cores, play_on and play_virtual of the options. Fails as mgb_run_open would, except
 * for memory. The graph is borrowed. */
enum mgb_status mgb_preview_make(struct mgb_preview **out, const struct mgb_run_options *options);
void mgb_preview_free(struct mgb_preview *preview); /* NULL is fine */
/* Gives it something to drop when it is freed, after everything else: what its play_virtual is of. Once. */
void mgb_preview_keep(struct mgb_preview *preview, void *kept, void (*drop)(void *kept));

/* Borrowed from the preview. */
const char *mgb_preview_backend(const struct mgb_preview *preview);
const char *
mgb_preview_remark(const struct mgb_preview *preview); /* "" when the backend was asked for */
const struct mgb_topology *mgb_preview_topology(const struct mgb_preview *preview);
const struct mgb_effective *mgb_preview_effective(const struct mgb_preview *preview);
const struct mgb_plan *mgb_preview_plan(const struct mgb_preview *preview); /* of the full step */

/* A full step, played in virtual time; valid until the next call. MGB_UNSUPPORTED: this preview is of real devices. */
struct mgb_virtual_step;
enum mgb_status mgb_preview_play(struct mgb_preview *preview, struct mgb_virtual_step *out);

/* The largest batch for each GPU with which the plan of the full step is admitted, found by planning; 0 when not even one
 * example is. MGB_UNSUPPORTED when no device in use has a memory limit. */
enum mgb_status mgb_preview_largest_batch(struct mgb_preview *preview, int64_t *batch);

#endif
