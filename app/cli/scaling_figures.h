/* What mgbench scaling says of one point, and the same of all points as one table for programs. */
#ifndef MGB_APP_CLI_SCALING_FIGURES_H
#define MGB_APP_CLI_SCALING_FIGURES_H

#include "app/cli/cli.h"
#include "app/cli/scaling_points.h"
#include "app/script/table.h"

struct mgb_scaled_figures { /* of one point */
    const struct mgb_scaled *weak_base, *strong_base, *corner, *independent;
    struct mgb_maybe_real weak, strong, epoch;
    struct mgb_scaling_split split; /* from weak_base, else from strong_base */
    struct mgb_scaling_exchange exchange;
    bool exchange_told; /* its interval does not reach 0 */
};

struct mgb_scaled_figures mgb_scaled_figures_of(const struct mgb_scaled_list *list,
                                                const struct mgb_scaled *p);

/* Cells: empty where nothing is known. */
void mgb_scaled_add_real(struct mgb_table *table, struct mgb_maybe_real value);
void mgb_scaled_add_ms(struct mgb_table *table, const struct mgb_scaled *p);

/* A row a point, for --csv and --json. */
enum mgb_status mgb_scaled_rows_print(const struct mgb_invocation *in,
                                      const struct mgb_scaled_list *list);

#endif
