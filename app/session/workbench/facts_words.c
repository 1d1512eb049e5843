/* Options as texts, and a placement in a line. */
#include "app/session/workbench/facts_private.h"

#include <stdio.h>
#include <string.h>

void mgb_facts_add_options(struct facts_work *work)
{
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        struct mgb_facts_option *option = &work->facts->options[i];
        mgb_placement_get_text(option->asked, sizeof option->asked, work->request->asked,
                               (enum mgb_option_id)i);
        mgb_effective_get_text(option->effective, sizeof option->effective,
                               work->request->effective, work->request->topology,
                               (enum mgb_option_id)i);
    }
}

struct line {
    char *text;
    size_t size;
};

static void line_add(struct line *line, const char *words, const char *value)
{
    size_t used = strlen(line->text);
    snprintf(line->text + used, line->size - used, "%s%s%s", used ? ", " : "", words, value);
}

/* "gpu:0" */
static const char *place_short(const struct mgb_facts *facts, enum mgb_option_id id)
{
    const char *text = facts->options[id].effective;
    return *text == '/' ? text + 1 : text;
}

static bool same_place(const struct mgb_facts *facts, enum mgb_option_id a, enum mgb_option_id b)
{
    return strcmp(facts->options[a].effective, facts->options[b].effective) == 0;
}

static void places_add(struct line *line, const struct mgb_facts *facts)
{
    bool outputs = facts->strategy == MGB_OUTPUTS;
    enum mgb_option_id meet = outputs ? MGB_OPTION_JOIN_AT : MGB_OPTION_SUM_AT;
    line_add(line, "weights ", place_short(facts, MGB_OPTION_WEIGHTS_AT));
    line_add(line, "towers meet ", place_short(facts, meet));
    if (outputs && !same_place(facts, meet, MGB_OPTION_LOSS_AT))
        line_add(line, "loss ", place_short(facts, MGB_OPTION_LOSS_AT));
    if (outputs && !same_place(facts, meet, MGB_OPTION_SUM_AT))
        line_add(line, "sum ", place_short(facts, MGB_OPTION_SUM_AT));
    if (!same_place(facts, MGB_OPTION_WEIGHTS_AT, MGB_OPTION_UPDATE_AT))
        line_add(line, "update ", place_short(facts, MGB_OPTION_UPDATE_AT));
}

static void towers_add(struct line *line, const struct mgb_facts *facts)
{
    char text[64];
    if (facts->gpus == 0)
        snprintf(text, sizeof text, "cpu:0 x %d", facts->global_batch);
    else if (facts->batch_mode == MGB_BATCH_GLOBAL)
        snprintf(text, sizeof text, "%d GPU%s, %d together", facts->gpus,
                 facts->gpus == 1 ? "" : "s", facts->global_batch);
    else
        snprintf(text, sizeof text, "%d GPU%s x %d", facts->gpus, facts->gpus == 1 ? "" : "s",
                 facts->batch_per_gpu);
    line_add(line, text, "");
}

void mgb_facts_add_title(struct facts_work *work)
{
    struct mgb_facts *facts = work->facts;
    const struct mgb_effective *e = work->request->effective;
    struct line line = {facts->title, sizeof facts->title};
    line_add(&line, facts->options[MGB_OPTION_STRATEGY].effective, "");
    if (facts->strategy == MGB_OUTPUTS || facts->strategy == MGB_GRADIENTS)
        places_add(&line, facts);
    if (facts->strategy == MGB_ALLREDUCE && e->allreduce != MGB_ALLREDUCE_AUTO)
        line_add(&line, facts->options[MGB_OPTION_ALLREDUCE].effective, "");
    if (e->relocated && e->relocation == MGB_CLONE)
        line_add(&line, "cloned", "");
    if (e->wire_type != MGB_WIRE_F32)
        line_add(&line, "wire ", facts->options[MGB_OPTION_WIRE_TYPE].effective);
    if (e->precision != MGB_PRECISION_F32)
        line_add(&line, facts->options[MGB_OPTION_PRECISION].effective, "");
    if (e->staged)
        line_add(&line, "staged", "");
    if (e->stale)
        line_add(&line, "stale", "");
    towers_add(&line, facts);
}
