/* Figures of which nothing is known yet. */
#include "app/script/services_run.h"

#include <math.h>

struct script_figures mgb_script_figures_unknown(void)
{
    const double unknown = (double)NAN;
    return (struct script_figures){
        .median_ms = unknown,
        .p95_ms = unknown,
        .mean_ms = unknown,
        .ci95_low_ms = unknown,
        .ci95_high_ms = unknown,
        .examples_per_s = unknown,
        .loss = unknown,
        .noise = unknown,
        .worst_ratio = unknown,
        .unaccounted_ms = unknown,
        .unaccounted_share = unknown,
        .first_ratio = unknown,
        .steady = -1,
        .outliers = -1,
        .outliers_far = -1,
        .outcome = "ok",
        .log_complete = true,
    };
}
