/* See steps.h. */
#include "tests/support/steps.h"

#include "db/draw.h"

#include <math.h>

/* Box and Muller's normal number; takes counters 2 * `at` and 2 * `at` + 1. */
static double normal(uint64_t trial, uint64_t stream, uint64_t at)
{
    double u = mgb_draw_unit(mgb_draw_at(trial, stream, 2 * at));
    double v = mgb_draw_unit(mgb_draw_at(trial, stream, 2 * at + 1));
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* An odd monotone function of a normal number: it keeps the median, grows as a cube and is twice as long to the
 * right. */
static double tailed(double z)
{
    double heavy = z * (1 + 0.25 * z * z);
    return z > 0 ? 2 * heavy : heavy;
}

void steps_simulate(int64_t *wall_ns, size_t count, const struct steps_process *process,
                    uint64_t trial, uint64_t stream)
{
    double rho = process->correlation, state = normal(trial, stream, 0);
    double level = process->median_ns * (1 + process->between * normal(trial, stream, count + 1));
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            state = rho * state + sqrt(1 - rho * rho) * normal(trial, stream, i);
        double noise = process->tail > 0 ? tailed(state) : state;
        wall_ns[i] = llrint(fmax(1, level * (1 + process->spread * noise)));
    }
}
