/* All figures of all points in one table; see scaling_figures.h. */
#include "app/cli/asking.h"
#include "app/cli/scaling_figures.h"
#include <math.h>

static void row_add(struct mgb_table *table, const struct mgb_scaled *p,
                    const struct mgb_scaled_figures *f)
{
    const struct mgb_scaled *bases[] = {f->weak_base, f->strong_base, f->independent};
    mgb_table_add_text(table, p->model);
    mgb_table_add_text(table, p->machine);
    mgb_table_add_text(table, p->backend);
    mgb_table_add_boolean(table, p->simulated);
    mgb_table_add_text(table, p->label);
    mgb_table_add_integer(table, p->point.gpus);
    mgb_table_add_integer(table, p->point.global_batch);
    mgb_table_add_integer(table, p->run);
    mgb_table_add_integer(table, p->repetitions);
    mgb_scaled_add_ms(table, p);
    mgb_table_add_number(table, p->examples_per_s > 0 ? p->examples_per_s : (double)NAN);
    for (int i = 0; i < 3; i++)
        mgb_scaled_add_ms(table, bases[i]);
    mgb_scaled_add_real(table, f->weak);
    mgb_scaled_add_real(table, f->strong);
    mgb_scaled_add_real(table, f->epoch);
    mgb_scaled_add_real(table, f->split.speedup);
    mgb_scaled_add_real(table, f->split.batch_effect);
    mgb_scaled_add_real(table, f->split.gpu_effect);
    mgb_table_add_number(table,
                         f->exchange.cost_ns.known ? f->exchange.cost_ns.value / 1e6 : (double)NAN);
    mgb_scaled_add_real(table, f->exchange.share);
    mgb_table_add_boolean(table, !p->not_steady);
    mgb_table_add_boolean(table, p->oversubscribed);
    mgb_table_add_text(table, p->oom ? "oom" : "ok");
    for (int i = -1; i < 2; i++) {
        const struct mgb_scaled *of = i < 0 ? p : bases[i];
        if (of && of->threads > 0)
            mgb_table_add_integer(table, of->threads);
        else
            mgb_table_add_empty(table);
    }
    mgb_table_add_text(table, *p->kind[MGB_SCALED_DATA] ? p->kind[MGB_SCALED_DATA] : NULL);
    mgb_table_add_text(table,
                       *p->kind[MGB_SCALED_OPTIMIZER] ? p->kind[MGB_SCALED_OPTIMIZER] : NULL);
    if (f->exchange.cost_ns.known)
        mgb_table_add_boolean(table, !f->exchange_told);
    else
        mgb_table_add_empty(table);
    mgb_table_add_text(table, mgb_cli_wrong_text(p->wrong));
}

enum mgb_status mgb_scaled_rows_print(const struct mgb_invocation *in,
                                      const struct mgb_scaled_list *list)
{
    static const char *const names[] = {"model",
                                        "machine",
                                        "backend",
                                        "simulated",
                                        "placement",
                                        "gpus",
                                        "global_batch",
                                        "run",
                                        "repetitions",
                                        "step_ms",
                                        "examples_per_s",
                                        "one_gpu_weak_ms",
                                        "one_gpu_strong_ms",
                                        "independent_ms",
                                        "weak",
                                        "strong",
                                        "epoch",
                                        "speedup",
                                        "batch_effect",
                                        "gpu_effect",
                                        "exchange_ms",
                                        "exchange_share",
                                        "steady",
                                        "oversubscribed",
                                        "outcome",
                                        "threads",
                                        "one_gpu_weak_threads",
                                        "one_gpu_strong_threads",
                                        "data",
                                        "optimizer",
                                        "exchange_below_noise",
                                        "wrong"};
    struct mgb_table *table;
    MGB_TRY(mgb_table_make(&table, sizeof names / sizeof *names, names));
    for (int i = 0; i < list->count; i++) {
        struct mgb_scaled_figures f = mgb_scaled_figures_of(list, &list->at[i]);
        row_add(table, &list->at[i], &f);
    }
    enum mgb_status status = mgb_table_print(table, in->format, stdout);
    mgb_table_free(table);
    return status;
}
