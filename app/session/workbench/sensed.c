/* What a device's sensors say, in the words of a display. */
#include "app/session/workbench/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void number_add(char *out, size_t size, int64_t value, const char *unit)
{
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%" PRId64 " %s", used ? ", " : "", value, unit);
}

void mgb_bench_sensed_write(char *out, size_t size, const struct mgb_sensed *sensed)
{
    size_t used;
    out[0] = '\0';
    if (sensed->clock_khz != MGB_UNSENSED)
        number_add(out, size, sensed->clock_khz / 1000, "MHz");
    if (sensed->power_mw != MGB_UNSENSED)
        number_add(out, size, sensed->power_mw / 1000, "W");
    if (sensed->temperature_mc != MGB_UNSENSED)
        number_add(out, size, sensed->temperature_mc / 1000, "C");
    if (sensed->utilisation_ppm != MGB_UNSENSED)
        number_add(out, size, sensed->utilisation_ppm / 10000, "% in use");
    used = strlen(out);
    if (sensed->throttle_known)
        snprintf(out + used, size - used, "%s%s%s", used ? ", " : "",
                 sensed->throttle[0] ? "held back by " : "nothing holds it back", sensed->throttle);
}
