/* Many small products on a team: each in one thread, so that its bits do not depend on the team's size. */
#ifndef MGB_HOST_OPS_PRODUCTS_H
#define MGB_HOST_OPS_PRODUCTS_H

#include "engine/host/dnnl_shim.h"
#include "engine/host/ops/ops.h"

/* Works on items [begin, end) as member `thread` of the team. */
typedef enum mgb_status mgb_products_function(void *context, int thread, int64_t begin,
                                              int64_t end);
/* One stretch of [0, items) a member of the kernel's team; the first failure is the result. */
enum mgb_status mgb_products_run(const struct mgb_kernel *kernel, int64_t items,
                                 mgb_products_function *f, void *context);

#endif
