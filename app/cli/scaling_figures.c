/* The figures of points; see scaling_figures.h. */
#include "app/cli/scaling_figures.h"

#include <math.h>

struct mgb_scaled_figures mgb_scaled_figures_of(const struct mgb_scaled_list *list,
                                                const struct mgb_scaled *p)
{
    const struct mgb_scaling_point *at = &p->point;
    struct mgb_scaled_figures f = {.strong_base = mgb_scaled_find(list, p, 1, at->global_batch),
                                   .independent =
                                       at->gpus > 1 ? mgb_scaled_find_independent(list, p) : NULL};
    if (at->global_batch % at->gpus == 0)
        f.weak_base = mgb_scaled_find(list, p, 1, at->global_batch / at->gpus);
    const struct mgb_scaled *base = f.weak_base ? f.weak_base : f.strong_base;
    if (f.weak_base)
        f.weak = mgb_scaling_weak(&f.weak_base->point, at);
    if (f.strong_base)
        f.strong = mgb_scaling_strong(&f.strong_base->point, at);
    if (base)
        f.epoch = mgb_scaling_epoch(&base->point, at, p->epoch_examples);
    f.corner = f.strong_base;
    if (f.weak_base && !f.corner)
        f.corner = mgb_scaled_find(list, p, at->gpus, f.weak_base->point.global_batch);
    if (base)
        f.split = mgb_scaling_separate(&base->point, at, f.corner ? &f.corner->point : NULL);
    if (f.independent)
        f.exchange = mgb_scaling_exchange(at, &f.independent->point);
    if (f.exchange.cost_ns.known)
        f.exchange_told = mgb_scaling_exchange_told(f.exchange.cost_ns.value, p->low_ns, p->high_ns,
                                                    f.independent->low_ns, f.independent->high_ns);
    return f;
}

void mgb_scaled_add_real(struct mgb_table *table, struct mgb_maybe_real value)
{
    mgb_table_add_number(table, value.known ? value.value : (double)NAN);
}

void mgb_scaled_add_ms(struct mgb_table *table, const struct mgb_scaled *p)
{
    mgb_table_add_number(table, p && p->point.step_ns > 0 ? p->point.step_ns / 1e6 : (double)NAN);
}
