/* What a backend stands on. */
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
