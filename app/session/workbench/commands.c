/* What is done for a wish: preview, open, steps, changes of placement and of what is trained. */
#include "app/session/workbench/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After a change its figures come often, and what might be pressed is worked out between pieces; later each end of a piece,
 * where steps wait for the record, is to be a small part of the time. */
#define PIECE_NS INT64_C(100000000)
#define LATER_PIECE_NS INT64_C(300000000)
#define LATER_NS INT64_C(5000000000)
#define PIECE_MOST INT64_C(100000)

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "describing a placement: memory is exhausted");
}

/* Calls with all that is asked for as words; `first` may be NULL. */
static enum mgb_status place_call(struct mgb_workbench *bench, struct mgb_script_answer *out,
                                  const char *name, const struct mgb_placement *asked,
                                  enum mgb_bench_which which, enum mgb_strategy strategy)
{
    if (out)
        out->count = 0;
    char **words = mgb_bench_words(asked, which, strategy, "");
    enum mgb_status status =
        words ? mgb_bench_call(bench, out, name, (const char *const *)words) : no_memory();
    mgb_bench_words_free(words);
    return status;
}

/* Leaves the facts of it in bench->offered. What is refused changes nothing. */
static enum mgb_status placement_look(struct mgb_workbench *bench,
                                      const struct mgb_placement *asked)
{
    bench->opening = MGB_OPEN_PREVIEW;
    enum mgb_status status = place_call(bench, NULL, "look", asked, MGB_WORDS_ALL, MGB_OUTPUTS);
    bench->opening = MGB_OPEN_OTHER;
    if (status == MGB_OK && bench->offered.facts)
        return MGB_OK;
    mgb_bench_offered_drop(bench);
    return status == MGB_OK ? mgb_fail(MGB_STATE, "there is no model yet: choose one first")
                            : status;
}

/* Tells where to go on after a crash: nothing runs then before it is asked for, so that what was only looked at is a place as
 * good as one that has done a step. Where it cannot be told, nowhere: what was told last may be another model. */
static void point_tell(struct mgb_workbench *bench)
{
    struct mgb_script_answer answer;
    const struct mgb_hub_options *hub = &bench->options.hub;
    bench->point_due = false;
    if (!hub->restartable)
        return;
    bool told = place_call(bench, &answer, "point_text", &bench->asked, MGB_WORDS_ALL,
                           MGB_OUTPUTS) == MGB_OK &&
                answer.count && strlen(answer.texts[0]) < MGB_WORKBENCH_POINT;
    hub->restartable(hub->context, told ? answer.texts[0] : NULL);
    mgb_script_answer_done(&answer);
}

/* Ready on what was looked at. */
static void offered_take(struct mgb_workbench *bench, const struct mgb_placement *asked)
{
    struct mgb_facts *facts = bench->offered.facts;
    bench->offered.facts = NULL;
    bench->request = bench->offered.request;
    bench->asked = *asked;
    mgb_bench_adopt(bench, facts, 0);
    mgb_presser_take(bench->presser, bench->offered.preview);
    bench->offered.preview = NULL;
    bench->state = MGB_BENCH_READY;
    point_tell(bench);
    if (*bench->offered.misfit) /* it can be shown, and changed from here; it cannot be run */
        mgb_bench_complain(bench, bench->offered.misfit);
}

/* The same once more, after the session of it has ended. */
void mgb_bench_look_again(struct mgb_workbench *bench)
{
    struct mgb_placement asked = bench->asked;
    bench->state = MGB_BENCH_EMPTY;
    if (!bench->draft->facts)
        return;
    if (placement_look(bench, &asked) == MGB_OK) {
        offered_take(bench, &asked);
        return;
    }
    mgb_bench_complain(bench, mgb_message_get());
    mgb_bench_disown(bench); /* what was prepared went with the session */
}

enum mgb_status mgb_bench_look(struct mgb_workbench *bench, const struct mgb_placement *asked)
{
    if (!bench->draft->facts) { /* without a model it is kept for the first one */
        bench->asked = *asked;
        return MGB_OK;
    }
    MGB_TRY(placement_look(bench, asked));
    offered_take(bench, asked);
    return MGB_OK;
}

static void session_end(struct mgb_workbench *bench)
{
    if (!bench->session)
        return;
    (void)mgb_statements_close(bench->statements);
    if (mgb_bench_call(bench, NULL, "close", NULL) != MGB_OK)
        mgb_bench_complain(bench, mgb_message_get());
}

/* Which run, and what went with it: nothing stores weights. */
static void session_end_say(struct mgb_workbench *bench, const char *why)
{
    const struct mgb_snapshot *draft = bench->draft;
    long long run = (long long)draft->now.run_id, steps = (long long)mgb_live_steps(bench->live);
    char name[40] = "the run";
    if (run)
        snprintf(name, sizeof name, "run %lld", run);
    session_end(bench);
    mgb_bench_say(bench, MGB_LINE_NOTE, "%s has ended after %lld step%s: its weights are gone%s",
                  name, steps, steps == 1 ? "" : "s", why);
}

void mgb_bench_end(struct mgb_workbench *bench, const char *why)
{
    if (!bench->session)
        return;
    session_end_say(bench, why);
    mgb_bench_look_again(bench);
}

/* Placement words of the start, before those of another side. */
static void words_read(struct mgb_workbench *bench, struct mgb_placement *asked)
{
    for (const char *const *word = bench->options.words; word && *word && **word != 'x'; word++) {
        char name[64];
        const char *equals = strchr(*word, '=');
        if (**word != 'p' || !equals || strlen(*word) < 4)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(equals - *word - 3), *word + 3);
        if (mgb_placement_set(asked, name, equals + 1) != MGB_OK)
            mgb_bench_complain(bench, mgb_message_get());
    }
}

static enum mgb_status start_words(struct mgb_workbench *bench)
{
    int count = 0;
    while (bench->options.words && bench->options.words[count])
        count++;
    const char **words = calloc((size_t)count + 4, sizeof *words);
    if (!words)
        return no_memory();
    words[0] = bench->model ? bench->model : "";
    words[1] = bench->backend ? bench->backend : "";
    words[2] = bench->machine ? bench->machine : "";
    for (int i = 0; i < count; i++)
        words[i + 3] = bench->options.words[i];
    enum mgb_status status = mgb_bench_call(bench, NULL, "start", words);
    free(words);
    return status;
}

static enum mgb_status resume_read(struct mgb_workbench *bench, struct mgb_placement *asked)
{
    struct mgb_script_answer answer;
    char *rest = NULL;
    enum mgb_status status = mgb_bench_call(bench, &answer, "resume",
                                            (const char *const[]){bench->options.resume, NULL});
    mgb_placement_init(asked);
    char *line = status == MGB_OK && answer.count ? strtok_r(answer.texts[0], "\n", &rest) : NULL;
    for (; line && status == MGB_OK; line = strtok_r(NULL, "\n", &rest)) {
        char *equals = strchr(line, '=');
        if (equals)
            *equals = '\0';
        status = mgb_placement_set(asked, line, equals ? equals + 1 : "nil");
    }
    mgb_script_answer_done(&answer);
    return status;
}

void mgb_bench_prepare(struct mgb_workbench *bench)
{
    struct mgb_placement asked = bench->asked;
    const char *point = bench->options.resume;
    if (point && *point) {
        bench->resumed = resume_read(bench, &asked) == MGB_OK;
        if (!bench->resumed)
            mgb_bench_complain(bench, mgb_message_get());
    }
    if (!bench->resumed) {
        asked = bench->asked;
        words_read(bench, &asked);
    }
    bench->asked = bench->wanted = bench->in_force = asked;
    bench->starting = bench->resumed || bench->model;
}

void mgb_bench_start(struct mgb_workbench *bench)
{
    struct mgb_placement asked = bench->asked;
    const struct mgb_hub_options *hub = &bench->options.hub;
    enum mgb_status status = bench->resumed ? MGB_OK : start_words(bench);
    if (status == MGB_OK && (bench->resumed || bench->model))
        status = placement_look(bench, &asked);
    if (status != MGB_OK)
        mgb_bench_complain(bench, mgb_message_get());
    else if (bench->offered.facts)
        offered_take(bench, &asked);
    if (hub->after_crash && status == MGB_OK)
        mgb_bench_say_fault(bench);
    bench->settled = true;
    mgb_bench_publish(bench);
}

static void open_note(struct mgb_workbench *bench)
{
    struct mgb_script_answer answer;
    enum mgb_strategy strategy = bench->draft->facts->strategy;
    if (place_call(bench, &answer, "session_text", &bench->asked, MGB_WORDS_IN_EFFECT, strategy) ==
            MGB_OK &&
        answer.count)
        (void)mgb_statements_open(bench->statements, answer.texts[0]);
    else
        mgb_statements_lose(bench->statements);
    mgb_script_answer_done(&answer);
    mgb_bench_parked_note(bench, strategy);
}

static enum mgb_status session_open(struct mgb_workbench *bench)
{
    mgb_bench_set_state(bench, MGB_BENCH_OPENING, "taking devices");
    bench->opening = MGB_OPEN_MAIN;
    enum mgb_status status = mgb_bench_call(bench, NULL, "open", NULL);
    bench->opening = MGB_OPEN_OTHER;
    if (status != MGB_OK)
        return status;
    open_note(bench);
    mgb_bench_say(bench, MGB_LINE_NOTE, "opened %s: %s", bench->draft->facts->model,
                  bench->draft->facts->title);
    mgb_bench_in_force(bench, NULL);
    return MGB_OK;
}

void mgb_bench_run(struct mgb_workbench *bench)
{
    if (!bench->draft->facts) {
        mgb_bench_complain(bench, "there is no model yet: choose one first");
        return;
    }
    if (!bench->session) /* what it said when it was tried before is over, or is said once more */
        bench->draft->message[0] = '\0';
    enum mgb_status status = bench->session ? MGB_OK : session_open(bench);
    bench->state = status == MGB_OK ? MGB_BENCH_RUNNING : MGB_BENCH_READY;
    if (status == MGB_INTERRUPTED)
        mgb_bench_say(bench, MGB_LINE_NOTE, "stopped before devices were taken");
    else if (status != MGB_OK)
        mgb_bench_complain(bench, mgb_message_get());
    bench->draft->doing[0] = '\0';
}

void mgb_bench_pause(struct mgb_workbench *bench)
{
    if (bench->state != MGB_BENCH_RUNNING)
        return;
    bench->state = MGB_BENCH_PAUSED;
    mgb_bench_settle(bench);
}

static void piece_fail(struct mgb_workbench *bench)
{
    char message[600];
    snprintf(message, sizeof message, "%s", mgb_message_get());
    session_end(bench);
    mgb_bench_look_again(bench);
    mgb_bench_complain(bench, message);
    if (bench->draft->facts)
        bench->state = MGB_BENCH_FAILED;
}

/* As many steps as take about as long as people do not notice. A wish ends a piece before. */
static void piece_adapt(struct mgb_workbench *bench, int64_t steps, int64_t began_ns)
{
    int64_t now = session_clock_ns(), took_ns = now - began_ns;
    bool later = !bench->pressing && now - bench->segment_at_ns > LATER_NS;
    int64_t aim_ns = later ? LATER_PIECE_NS : PIECE_NS;
    int64_t next = took_ns > 0 ? steps * aim_ns / took_ns : PIECE_MOST;
    if (next > 2 * bench->piece_steps)
        next = 2 * bench->piece_steps;
    bench->piece_steps = next < 1 ? 1 : next > PIECE_MOST ? PIECE_MOST : next;
}

/* The engine's own trace is of the warm-up. Once figures say what a step is, one of those is traced too; what comes out long is
 * tried once more. */
static bool trace_is_due(const struct mgb_workbench *bench)
{
    enum { TIMED = 20, MOST_TASKS = 2000, TRIES = 2 };
    const struct mgb_facts *facts = bench->draft->facts;
    return bench->stepped && !bench->trace.done && bench->trace.tries < TRIES &&
           bench->figures.steps >= TIMED && facts && facts->all_tasks <= MOST_TASKS;
}

static void trace_look(struct mgb_workbench *bench)
{
    const struct mgb_bench_traced *traced = mgb_live_traced(bench->live);
    double wall_ms = traced ? (double)traced->wall_ns / 1e6 : (double)INFINITY;
    bench->trace.tries++;
    bench->trace.done = bench->figures.steps > 0 && wall_ms <= 1.5 * bench->figures.median_ms;
    mgb_shared_drop(traced);
}

static enum mgb_status piece_step(struct mgb_workbench *bench)
{
    char count[24];
    const char *traced = bench->trace_next ? "traced" : "";
    snprintf(count, sizeof count, "%lld", (long long)(*traced ? 1 : bench->piece_steps));
    bench->in_piece = true;
    enum mgb_status status =
        mgb_bench_call(bench, NULL, "step", (const char *const[]){count, traced, NULL});
    bench->in_piece = false;
    return status;
}

void mgb_bench_piece(struct mgb_workbench *bench)
{
    int64_t began_ns = session_clock_ns(), before = mgb_live_steps(bench->live);
    bench->trace_next = bench->trace_next || trace_is_due(bench);
    enum mgb_status status = piece_step(bench);
    if (status == MGB_INTERRUPTED)
        return; /* the wish for it waits */
    if (status != MGB_OK) {
        piece_fail(bench);
        return;
    }
    if (bench->trace_next)
        trace_look(bench);
    else
        piece_adapt(bench, mgb_live_steps(bench->live) - before, began_ns);
    bench->trace_next = false;
    mgb_live_warmup(bench->live, bench->figures.warmup_steps);
    mgb_bench_measure(bench, false);
    if (bench->point_due)
        point_tell(bench);
}

void mgb_bench_offer(struct mgb_workbench *bench, const char *kind, const char *text)
{
    bool running = bench->state == MGB_BENCH_RUNNING;
    struct mgb_placement asked = bench->asked;
    mgb_bench_set_state(bench, bench->state, "planning");
    bench->draft->doing[0] = '\0';
    enum mgb_status status =
        mgb_bench_call(bench, NULL, "offer", (const char *const[]){kind, text ? text : "", NULL});
    if (status == MGB_OK && (bench->draft->facts || strcmp(kind, "model") == 0))
        status = placement_look(bench, &asked);
    if (status != MGB_OK || !bench->offered.facts) {
        if (status != MGB_OK)
            mgb_bench_complain(bench, mgb_message_get());
        return;
    }
    if (bench->session)
        session_end_say(bench, "");
    bench->draft->message[0] = '\0';
    mgb_live_begin_run(bench->live); /* steps of another run are none of it */
    bench->history_steps = -1;
    offered_take(bench, &asked);
    mgb_bench_in_force(bench, NULL);
    mgb_bench_say(bench, MGB_LINE_NOTE, "%s: %s", kind, text && *text ? text : "default");
    if (running)
        mgb_bench_run(bench);
}
