/* Whether the copies of the weights that a mirrored strategy keeps are still one another's at a run's end. */
#include "app/session/rows.h"

#include <mgb/check.h>
#include <string.h>

/* Simulated weights have no values; a device that reads late ones differs by intent. */
static bool is_mirrored(const struct mgb_run *run)
{
    const struct mgb_effective *effective = mgb_run_effective(run);
    return effective->strategy == MGB_ALLREDUCE && effective->tower_count > 1 &&
           strcmp(mgb_run_backend(run), "sim") != 0;
}

struct mgb_maybe_int mgb_session_compare_replicas(struct script_session *session)
{
    struct mgb_check check;
    if (!is_mirrored(session->run))
        return (struct mgb_maybe_int){0};
    enum mgb_status status = mgb_run_check(session->run, &check);
    if (status == MGB_OK) {
        mgb_check_done(&check);
        return MGB_KNOWN_INT(1);
    }
    if (status != MGB_CORRUPT) /* a device that cannot be read any more says nothing */
        return (struct mgb_maybe_int){0};
    mgb_session_warn(session, "replicas",
                     "the replicas do not agree, so this run's figures are of no "
                     "training: %s",
                     mgb_message_get());
    return MGB_KNOWN_INT(0);
}
