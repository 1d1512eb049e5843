/* The largest batch that fits, one plan at a time: nothing is opened. As mgb_preview_largest_batch, in pieces. */
#include "app/session/workbench/presser_private.h"

#include <stdio.h>

#define MOST_BATCH (INT64_C(1) << 24)

void mgb_presser_search_begin(struct presser_search *search, const struct mgb_preview *preview)
{
    const struct mgb_effective *effective = mgb_preview_effective(preview);
    const struct mgb_plan *plan = mgb_preview_plan(preview);
    bool limited = effective->gpu_memory > 0;
    for (int i = 0; i < plan->use_count; i++)
        limited = limited || plan->topology->devices[plan->uses[i].device].memory_bytes > 0;
    *search = (struct presser_search){.next = limited ? effective->batch_per_gpu : 0};
}

static enum mgb_status batch_try(const struct script_open_request *request, int64_t batch)
{
    struct script_open_request tried = *request;
    struct mgb_preview *preview;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)batch);
    MGB_TRY(mgb_placement_set(&tried.placement, "global_batch", "nil"));
    MGB_TRY(mgb_placement_set(&tried.placement, "batch", number));
    MGB_TRY(mgb_session_preview(&preview, &tried));
    enum mgb_status status =
        mgb_plan_admit(mgb_preview_plan(preview), NULL, mgb_preview_effective(preview)->gpu_memory);
    mgb_preview_free(preview);
    return status;
}

void mgb_presser_search_work(struct presser_search *search,
                             const struct script_open_request *request)
{
    enum mgb_status status = batch_try(request, search->next);
    if (status == MGB_OK)
        search->fits = search->next;
    else
        search->fails = search->next;
    if (status != MGB_OK && status != MGB_OOM) /* what cannot be planned is no answer */
        search->fits = 0;
    bool found = search->fails && search->fails - search->fits <= 1;
    if ((status != MGB_OK && status != MGB_OOM) || found || search->fits > MOST_BATCH)
        search->next = 0;
    else
        search->next =
            search->fails ? search->fits + (search->fails - search->fits) / 2 : search->fits * 2;
}
