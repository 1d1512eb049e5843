/* What Lua asks of the hub passes here: what a session would be is looked at without opening it, and steps and changes of
 * the workbench's session are noted, whoever asked for them. */
#include "app/session/workbench/commands.h"

#include "app/session/preview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum mgb_status preview_open(struct mgb_workbench *bench,
                                    const struct script_open_request *request)
{
    struct mgb_preview *preview;
    MGB_TRY(mgb_session_preview(&preview, request));
    struct mgb_facts_request facts = {.model = request->model,
                                      .data = request->data,
                                      .backend = mgb_preview_backend(preview),
                                      .remark = mgb_preview_remark(preview),
                                      .graph = request->graph,
                                      .topology = mgb_preview_topology(preview),
                                      .asked = &request->placement,
                                      .effective = mgb_preview_effective(preview),
                                      .plan = mgb_preview_plan(preview),
                                      .hub = bench->hub};
    mgb_bench_offered_drop(bench);
    enum mgb_status status = mgb_facts_make(&bench->offered.facts, &facts);
    bench->offered.request = *request;
    bench->offered.misfit[0] = '\0';
    if (status == MGB_OK && mgb_plan_admit(mgb_preview_plan(preview), NULL,
                                           mgb_preview_effective(preview)->gpu_memory) != MGB_OK)
        snprintf(bench->offered.misfit, sizeof bench->offered.misfit, "%.399s", mgb_message_get());
    bench->offered.preview = preview;
    return status == MGB_OK ? mgb_fail(MGB_STATE, "nothing is run") : status;
}

void mgb_bench_offered_drop(struct mgb_workbench *bench)
{
    mgb_shared_drop(bench->offered.facts);
    mgb_preview_free(bench->offered.preview);
    bench->offered.facts = NULL;
    bench->offered.preview = NULL;
}

/* Of the session as it is; what cannot be told is as it was. */
static void session_adopt(struct mgb_workbench *bench, int number)
{
    struct mgb_run *run = bench->inner.engine(bench->session);
    struct mgb_facts_request request = {.model = bench->request.model,
                                        .data = bench->request.data,
                                        .backend = mgb_run_backend(run),
                                        .remark = mgb_run_remark(run),
                                        .graph = bench->request.graph,
                                        .topology = mgb_run_topology(run),
                                        .asked = mgb_run_placement(run),
                                        .effective = mgb_run_effective(run),
                                        .plan = mgb_run_plan(run),
                                        .hub = bench->hub};
    struct mgb_facts *facts;
    bench->asked = *mgb_run_placement(run);
    if (mgb_facts_make(&facts, &request) == MGB_OK)
        mgb_bench_adopt(bench, facts, number);
    else
        mgb_bench_complain(bench, mgb_message_get());
}

static enum mgb_status main_open(struct mgb_workbench *bench, struct script_session **out,
                                 const struct script_open_request *request)
{
    MGB_TRY(bench->inner.open(bench->hub, out, request));
    bench->session = *out;
    bench->offered.misfit[0] = '\0';
    bench->request = *request;
    bench->request.refused_run = NULL;
    bench->segment = 0;
    mgb_live_begin_run(bench->live);
    session_adopt(bench, 1);
    return MGB_OK;
}

static enum mgb_status bench_open(void *hub, struct script_session **out,
                                  const struct script_open_request *request)
{
    struct mgb_workbench *bench = mgb_hub_context(hub);
    *out = NULL;
    switch (bench->opening) {
    case MGB_OPEN_PREVIEW:
        return preview_open(bench, request);
    case MGB_OPEN_MAIN:
        return main_open(bench, out, request);
    case MGB_OPEN_OTHER:
        break;
    }
    return bench->inner.open(hub, out, request);
}

static struct mgb_workbench *bench_of(const struct script_session *session)
{
    return mgb_hub_context(mgb_hub_of(session));
}

static void bench_close(struct script_session *session)
{
    struct mgb_workbench *bench = bench_of(session);
    if (session == bench->session) {
        bench->session = NULL;
        mgb_presser_forget(bench->presser); /* what was frozen stays in its graph: Lua drops it */
    }
    bench->inner.close(session);
}

static enum mgb_status bench_step(struct script_session *session, struct script_figures *figures,
                                  struct script_losses *losses,
                                  const struct script_step_request *request)
{
    struct mgb_workbench *bench = bench_of(session);
    if (session != bench->session)
        return bench->inner.step(session, figures, losses, request);
    struct mgb_run *run = bench->inner.engine(session);
    int64_t before = mgb_run_step_index(run);
    struct script_step_request yielding = *request;
    yielding.yields = bench->in_piece;
    atomic_store(&bench->feeding, true);
    enum mgb_status status = bench->inner.step(session, figures, losses, &yielding);
    atomic_store(&bench->feeding, false);
    int64_t done = mgb_run_step_index(run) - before;
    if (done > 0) {
        bench->figures = *figures;
        bench->stepped = true;
        (void)mgb_statements_step(bench->statements, done); /* told when they are written */
    }
    return status;
}

static bool value_write(FILE *out, const struct mgb_option *option, const char *text)
{
    enum mgb_option_kind kind = option->kind;
    bool is_word = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    bool is_number =
        *text && (kind == MGB_KIND_NUMBER || text[strspn(text, "0123456789.")] == '\0');
    if (kind == MGB_KIND_GPUS && strpbrk(text, ",{"))
        return fprintf(out, *text == '{' ? "%s" : "{ %s }", text) >= 0;
    if (is_word || (is_number && kind != MGB_KIND_ENUM && kind != MGB_KIND_DEVICE))
        return fputs(text, out) >= 0;
    return fprintf(out, "\"%s\"", *text ? text : "nil") >= 0;
}

struct set_text {
    FILE *out;
    char *text;
    size_t size;
    int count;
    bool failed; /* it could not grow; that is told by what writes alone */
};

/* False: no memory, and the session cannot be repeated. */
static bool set_text_begin(struct set_text *set, struct mgb_statements *statements)
{
    *set = (struct set_text){0};
    set->out = open_memstream(&set->text, &set->size);
    if (set->out)
        fputs("s:set{ ", set->out);
    else
        mgb_statements_lose(statements);
    return set->out != NULL;
}

static void set_text_add(struct set_text *set, const struct mgb_option *option, const char *value)
{
    int put = fprintf(set->out, "%s%s = ", set->count++ ? ", " : "", option->name);
    set->failed = !value_write(set->out, option, value) || put < 0 || set->failed;
}

static void set_text_end(struct set_text *set, struct mgb_statements *statements)
{
    bool failed = fputs(" }", set->out) < 0 || set->failed;
    if (fclose(set->out) != 0 || failed)
        mgb_statements_lose(statements);
    else if (set->count)
        (void)mgb_statements_add(statements, set->text); /* told when they are written */
    free(set->text);
}

/* `s:set{...}` with what differs, where anything does. */
static void set_note(struct mgb_workbench *bench, const struct mgb_placement *before,
                     const struct mgb_placement *after)
{
    const uint64_t batches = UINT64_C(1) << MGB_OPTION_BATCH | UINT64_C(1)
                                                                   << MGB_OPTION_GLOBAL_BATCH;
    char then[512], now[512];
    struct set_text set;
    if (!set_text_begin(&set, bench->statements))
        return;
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        const struct mgb_option *option = &mgb_placement_options()[i];
        mgb_placement_get_text(then, sizeof then, before, option->id);
        mgb_placement_get_text(now, sizeof now, after, option->id);
        bool cleared = !*now && (batches >> i & 1) && after->given & batches; /* by its twin */
        if (strcmp(then, now) != 0 && !cleared)
            set_text_add(&set, option, now);
    }
    bench->moved = bench->moved || set.count > 0;
    set_text_end(&set, bench->statements);
}

void mgb_bench_parked_note(struct mgb_workbench *bench, enum mgb_strategy strategy)
{
    char text[512];
    struct set_text set;
    if (!set_text_begin(&set, bench->statements))
        return;
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        const struct mgb_option *option = &mgb_placement_options()[i];
        mgb_placement_get_text(text, sizeof text, &bench->asked, option->id);
        if (*text && !(option->strategies >> strategy & 1))
            set_text_add(&set, option, text);
    }
    set_text_end(&set, bench->statements);
}

static enum mgb_status bench_set(struct script_session *session, struct mgb_change *change,
                                 const struct mgb_placement *placement, uint64_t fresh)
{
    struct mgb_workbench *bench = bench_of(session);
    if (session != bench->session)
        return bench->inner.set(session, change, placement, fresh);
    struct mgb_placement before = bench->asked;
    enum mgb_strategy strategy = bench->draft->facts ? bench->draft->facts->strategy : MGB_OUTPUTS;
    int global_batch = bench->draft->now.global_batch;
    mgb_bench_settle(bench);
    MGB_TRY(bench->inner.set(session, change, placement, fresh));
    set_note(bench, &before, placement);
    if (change->changed) {
        bench->previous.number = bench->segment;
        bench->previous.asked = before;
        bench->previous.strategy = strategy;
        bench->previous.global_batch = global_batch;
    }
    session_adopt(bench, bench->segment + change->changed);
    return MGB_OK;
}

static enum mgb_status bench_load(struct script_session *session, const struct script_load *load)
{
    struct mgb_workbench *bench = bench_of(session);
    if (session != bench->session)
        return bench->inner.load(session, load);
    struct script_load told = *load;
    bool new_segment = false;
    told.new_segment = &new_segment;
    mgb_bench_settle(bench);
    MGB_TRY(bench->inner.load(session, &told));
    session_adopt(bench, bench->segment + new_segment);
    return MGB_OK;
}

void mgb_bench_services(struct mgb_workbench *bench)
{
    mgb_hub_services(&bench->inner, bench->hub);
    bench->services = bench->inner;
    bench->services.open = bench_open;
    bench->services.close = bench_close;
    bench->services.step = bench_step;
    bench->services.set = bench_set;
    bench->services.load = bench_load;
    bench->services.cell = mgb_bench_cell;
}

/* What may be broken off anywhere; the rest is short, and half of it would leave Lua and engine apart. */
static bool is_stoppable(const char *name)
{
    static const char *const names[] = {"start", "look", "eval", "verify", "sweep"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

enum mgb_status mgb_bench_call(struct mgb_workbench *bench, struct mgb_script_answer *out,
                               const char *name, const char *const *words)
{
    struct mgb_script_answer answer;
    int count = 0;
    while (words && words[count])
        count++;
    mgb_script_watch(bench->script, is_stoppable(name));
    enum mgb_status status =
        mgb_script_call(bench->script, &answer, "workbench", name, words, count);
    if (out)
        *out = answer;
    else
        mgb_script_answer_done(&answer);
    return status;
}

void mgb_bench_words_free(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

char **mgb_bench_words(const struct mgb_placement *asked, enum mgb_bench_which which,
                       enum mgb_strategy strategy, const char *prefix)
{
    char **words = calloc(2 * MGB_OPTION_COUNT + 2, sizeof *words), text[512];
    int count = 0;
    for (int i = 0; words && i < MGB_OPTION_COUNT; i++) {
        const struct mgb_option *option = &mgb_placement_options()[i];
        bool in_effect = option->strategies >> strategy & 1;
        mgb_placement_get_text(text, sizeof text, asked, option->id);
        if (!*text || (which != MGB_WORDS_ALL && in_effect != (which == MGB_WORDS_IN_EFFECT)))
            continue;
        if (asprintf(&words[count], "%s%s=%s", prefix, option->name, text) < 0) {
            words[count] = NULL;
            mgb_bench_words_free(words);
            return NULL;
        }
        count++;
    }
    return words;
}
