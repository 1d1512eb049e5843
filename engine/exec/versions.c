/* What a backend stands on, and what its devices sense. */
#include "engine/backend/backend.h"
#include <mgb/run.h>

enum mgb_status mgb_backend_versions(char *out, size_t size, const char *backend)
{
    const struct mgb_backend *found = mgb_backend_find(backend);
    out[0] = '\0';
    if (!found)
        return MGB_MISSING;
    if (found->versions)
        found->versions(out, size);
    return MGB_OK;
}

enum mgb_status mgb_backend_sense(struct mgb_sensed *out, const char *backend,
                                  const struct mgb_device *device)
{
    const struct mgb_backend *found = mgb_backend_find(backend);
    *out = (struct mgb_sensed){.clock_khz = MGB_UNSENSED,
                               .memory_clock_khz = MGB_UNSENSED,
                               .power_mw = MGB_UNSENSED,
                               .temperature_mc = MGB_UNSENSED,
                               .utilisation_ppm = MGB_UNSENSED,
                               .used_bytes = MGB_UNSENSED};
    if (!found)
        return MGB_MISSING;
    if (!found->sense)
        return mgb_fail(MGB_UNSUPPORTED, "devices of backend %s have no sensors", backend);
    return found->sense(out, device);
}
