/* Matrix products c = a b with a b that is used many times: packed once into the form that oneDNN likes best, then multiplied
 * by one a after another. For recurrent layers, whose steps multiply by the same weights.
 *
 * All f32, rows after rows. Made for the team size of the calling thread; must run with the same. One call at a time. */
#ifndef MGB_HOST_DNNL_PACKED_H
#define MGB_HOST_DNNL_PACKED_H

#include <mgb/status.h>
#include <stdbool.h>
#include <stdint.h>

struct mgb_dnnl_packed_shape {
    int64_t m, k, n;  /* a [m, k], b [k, n], c [m, n] */
    int64_t b_stride; /* elements from one row of b to the next */
    bool transposed;  /* b lies in memory as [n, k] */
};

struct mgb_dnnl_packed;

/* `scratch_bytes`: what pack and run want, the same memory in both; it holds the packed b in between. */
enum mgb_status mgb_dnnl_packed_make(struct mgb_dnnl_packed **out, int64_t *scratch_bytes,
                                     const struct mgb_dnnl_packed_shape *shape);
enum mgb_status mgb_dnnl_packed_pack(struct mgb_dnnl_packed *packed, const float *b, void *scratch);
enum mgb_status mgb_dnnl_packed_run(struct mgb_dnnl_packed *packed, const float *a, float *c,
                                    void *scratch);
void mgb_dnnl_packed_free(struct mgb_dnnl_packed *packed); /* NULL is fine */

#endif
