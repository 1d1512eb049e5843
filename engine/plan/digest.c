/* The digest of a plan: of its text, so that two plans have the same one when they say the same. */
#include "engine/base/hash.h"

#include <mgb/plan.h>
#include <string.h>

enum mgb_status mgb_plan_digest(uint64_t *out, const struct mgb_plan *plan)
{
    char *text;
    MGB_TRY(mgb_plan_text(&text, plan));
    *out = mgb_hash(0, text, strlen(text));
    mgb_text_free(text);
    return MGB_OK;
}
