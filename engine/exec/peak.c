/* How fast devices compute at best: asked of the backend, between steps. */
#include "engine/exec/run_state.h"

enum mgb_status mgb_run_measure_peak(struct mgb_run *run, double *tflops, int64_t budget_ns)
{
    *tflops = 0;
    MGB_TRY(mgb_run_needs_values(run, "measuring how fast a core is"));
    if (!run->site->backend->core_peak)
        return mgb_fail(MGB_UNSUPPORTED, "the %s backend does not measure how fast devices compute",
                        run->site->backend->name);
    return run->site->backend->core_peak(tflops, budget_ns);
}
