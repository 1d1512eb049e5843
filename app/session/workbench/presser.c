/* See presser.h. Rows are planned one by one; those that could be pressed are then looked up at the judge's desk, and again
 * later, ever more rarely: the segment in force gets more steps. */
#include "app/session/workbench/presser_private.h"

#include "app/session/effective_columns.h"
#include "app/session/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_INTERVAL_NS INT64_C(1000000000)

struct mgb_presser {
    struct mgb_judge_desk *desk; /* NULL: nothing is looked up */
    const struct mgb_facts *facts;
    struct script_open_request request;
    int64_t segment;
    struct mgb_preview *preview;  /* of the placement in force; NULL: not made yet */
    int count, next;              /* rows; the first that is not planned yet */
    struct presser_search search; /* after them */
    struct mgb_pressed_row rows[MGB_PRESSED_MOST];
    struct mgb_lookup lookups[MGB_PRESSED_MOST]; /* by row; without columns: none */
    bool waiting[MGB_PRESSED_MOST];              /* for the desk's answer */
    bool answered[MGB_PRESSED_MOST];
    int round;  /* of rows: an answer for an earlier one is for other rows */
    bool asked; /* all there is has been asked of the desk for this segment */
    int64_t asked_ns, interval_ns;
    struct mgb_pressed *last; /* given out last */
    bool changed;             /* since */
};

static const struct {
    enum mgb_option_id option;
    int direction;
} first_rows[] = {{MGB_OPTION_CPU_RELOCATION, 1}, {MGB_OPTION_CPU_MERGE, 1},
                  {MGB_OPTION_STRATEGY, 1},       {MGB_OPTION_GPUS, -1},
                  {MGB_OPTION_GPUS, 1},           {MGB_OPTION_BATCH, -1},
                  {MGB_OPTION_BATCH, 1},          {MGB_OPTION_PEER_ACCESS, 1}};
enum { FIRST_ROWS = sizeof first_rows / sizeof first_rows[0] };

enum mgb_status mgb_presser_make(struct mgb_presser **out, struct mgb_judge_desk *desk)
{
    struct mgb_presser *presser = calloc(1, sizeof *presser);
    if (!presser)
        return mgb_fail(MGB_NO_MEMORY, "looking at toggles: memory is exhausted");
    presser->desk = desk;
    *out = presser;
    return MGB_OK;
}

void mgb_presser_free(struct mgb_presser *presser)
{
    if (!presser)
        return;
    mgb_preview_free(presser->preview);
    mgb_shared_drop(presser->facts);
    mgb_shared_drop(presser->last);
    free(presser);
}

static void row_add(struct mgb_presser *presser, enum mgb_option_id option, int direction)
{
    presser->rows[presser->count++] = (struct mgb_pressed_row){
        .option = option,
        .direction = direction,
        .ratio = (double)NAN,
        .ms = (double)NAN,
        .low = (double)NAN,
        .high = (double)NAN,
    };
}

/* The batch as it was given comes first. */
static enum mgb_option_id option_first(int row, const struct mgb_facts *facts)
{
    bool global = facts->batch_mode == MGB_BATCH_GLOBAL;
    enum mgb_option_id option = first_rows[row].option;
    return option == MGB_OPTION_BATCH && global ? MGB_OPTION_GLOBAL_BATCH : option;
}

static bool is_first(enum mgb_option_id option, const struct mgb_facts *facts)
{
    bool first = false;
    for (int i = 0; i < FIRST_ROWS; i++)
        first = first || option_first(i, facts) == option;
    return first;
}

static void rows_begin(struct mgb_presser *presser)
{
    mgb_preview_free(presser->preview);
    presser->preview = NULL;
    presser->count = presser->next = 0;
    presser->round = (presser->round + 1) % 1000000;
    presser->search = (struct presser_search){0};
    memset(presser->lookups, 0, sizeof presser->lookups);
    memset(presser->waiting, 0, sizeof presser->waiting);
    memset(presser->answered, 0, sizeof presser->answered);
    for (int i = 0; i < FIRST_ROWS; i++)
        row_add(presser, option_first(i, presser->facts), first_rows[i].direction);
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        if (is_first((enum mgb_option_id)i, presser->facts))
            continue;
        if (i == MGB_OPTION_BATCH || i == MGB_OPTION_GLOBAL_BATCH)
            row_add(presser, (enum mgb_option_id)i, -1);
        row_add(presser, (enum mgb_option_id)i, 1);
    }
    presser->changed = true;
}

static bool is_limited(const struct mgb_facts *facts)
{
    bool limited = false;
    for (int i = 0; i < facts->device_count; i++)
        limited = limited || facts->devices[i].capacity_bytes > 0;
    return limited;
}

/* What is known of the rows holds for `facts` too. */
static bool same_placement(const struct mgb_presser *presser, const struct mgb_facts *facts,
                           const struct script_open_request *request, int64_t segment)
{
    const struct mgb_facts *known = presser->facts;
    bool same = known && presser->count > 0 && presser->request.graph == request->graph &&
                strcmp(known->model, facts->model) == 0 &&
                strcmp(known->backend, facts->backend) == 0;
    for (int i = 0; i < MGB_OPTION_COUNT && same; i++)
        same = strcmp(known->options[i].asked, facts->options[i].asked) == 0 &&
               strcmp(known->options[i].effective, facts->options[i].effective) == 0;
    bool moves =
        (presser->segment != 0) != (segment != 0); /* else before, or the other way round */
    return same && !(moves && is_limited(facts));
}

void mgb_presser_begin(struct mgb_presser *presser, const struct mgb_facts *facts,
                       const struct script_open_request *request, int64_t segment)
{
    bool same = same_placement(presser, facts, request, segment);
    const struct mgb_facts *before = presser->facts;
    presser->facts = mgb_shared_hold(facts);
    presser->request = *request;
    mgb_shared_drop(before);
    if (!same)
        rows_begin(presser);
    if (presser->segment == 0 && segment != 0) /* nothing stored to hold it against is no answer */
        memset(presser->answered, 0, sizeof presser->answered);
    if (!same || presser->segment != segment) {
        presser->asked = false;
        presser->interval_ns = FIRST_INTERVAL_NS;
    }
    presser->segment = segment;
}

void mgb_presser_forget(struct mgb_presser *presser)
{
    mgb_preview_free(presser->preview);
    presser->preview = NULL;
    presser->next = presser->count;
    presser->search.next = 0;
    presser->segment = 0;
    presser->request.graph = NULL; /* another one may come to lie where it was */
}

static void answer_take(struct mgb_presser *presser, const struct mgb_looked_up *answer)
{
    int number = answer->id % MGB_PRESSED_MOST;
    if (answer->id / MGB_PRESSED_MOST != presser->round || number >= presser->next)
        return;
    struct mgb_pressed_row *row = &presser->rows[number];
    presser->waiting[number] = false;
    presser->answered[number] = true;
    presser->changed = true;
    row->segments = answer->segments;
    if (answer->segments == 0 || !(answer->ratio > 0))
        return;
    row->from = MGB_PRESSED_MEASURED;
    row->ratio = answer->ratio;
    row->low = answer->low;
    row->high = answer->high;
    row->base_run = answer->base_run;
    snprintf(row->verdict, sizeof row->verdict, "%s", answer->verdict);
}

static void answers_take(struct mgb_presser *presser)
{
    struct mgb_looked_up answers[16];
    int count;
    while (presser->desk && (count = mgb_judge_desk_take(presser->desk, answers, 16)) > 0)
        for (int i = 0; i < count; i++)
            answer_take(presser, &answers[i]);
}

/* What has not been answered, and again what some stored segment tells of. */
static bool is_wanted(const struct mgb_presser *presser, int row)
{
    return presser->lookups[row].column_count > 0 &&
           (!presser->answered[row] || presser->rows[row].segments > 0);
}

static void lookups_post(struct mgb_presser *presser)
{
    int count = 0;
    struct mgb_lookup *wanted = calloc((size_t)presser->count, sizeof *wanted);
    for (int i = 0; wanted && i < presser->next; i++)
        if (is_wanted(presser, i)) {
            wanted[count] = presser->lookups[i];
            wanted[count++].id = presser->round * MGB_PRESSED_MOST + i;
            presser->waiting[i] = true;
        }
    if (count > 0)
        mgb_judge_desk_look_up(presser->desk, presser->segment, wanted, count);
    free(wanted);
}

static void desk_ask(struct mgb_presser *presser)
{
    bool planned = presser->next == presser->count, first = presser->next == FIRST_ROWS;
    if (!presser->desk || (!planned && !first))
        return;
    int64_t now = session_clock_ns();
    if (presser->asked && now - presser->asked_ns < presser->interval_ns)
        return;
    if (presser->asked)
        presser->interval_ns *= 2;
    lookups_post(presser);
    presser->asked = planned;
    presser->asked_ns = now;
}

/* Nothing can be held against a placement that cannot be planned: its rows say so. */
static void base_refused(struct mgb_presser *presser)
{
    for (int i = 0; i < presser->count; i++) {
        presser->rows[i].from = MGB_PRESSED_REFUSED;
        snprintf(presser->rows[i].reason, sizeof presser->rows[i].reason, "%s", mgb_message_get());
    }
    presser->next = presser->count;
}

/* Before anything runs, times are held against a stored segment of the same. */
static void stand_in_tell(struct mgb_presser *presser)
{
    struct mgb_stand_in of = {.at = {.column_count = 0}};
    const struct script_open_request *request = &presser->request;
    const char *options = request->model_options ? request->model_options : "{}";
    if (!presser->facts->simulated && strlen(options) < sizeof of.options) {
        strcpy(of.options, options);
        snprintf(of.digest, sizeof of.digest, "%016llx",
                 (unsigned long long)mgb_graph_digest(request->graph));
        snprintf(of.data, sizeof of.data, "%s", request->data ? request->data : "");
        mgb_session_machine_key(of.machine, sizeof of.machine);
        mgb_session_optimizer_text(of.optimizer, sizeof of.optimizer, &request->optimizer);
        mgb_presser_lookup_fill(&of.at, presser->facts, presser->preview);
    }
    mgb_judge_desk_stand_in(presser->desk, &of);
}

static void base_found(struct mgb_presser *presser)
{
    mgb_presser_search_begin(&presser->search, presser->preview);
    if (presser->desk && presser->segment == 0)
        stand_in_tell(presser);
}

void mgb_presser_take(struct mgb_presser *presser, struct mgb_preview *preview)
{
    bool wanted = preview && presser->count > 0 && presser->next == 0 && !presser->preview;
    if (!wanted) {
        mgb_preview_free(preview);
        return;
    }
    presser->preview = preview;
    base_found(presser);
}

static bool search_work(struct mgb_presser *presser)
{
    if (presser->search.next == 0)
        return false;
    mgb_presser_search_work(&presser->search, &presser->request);
    presser->changed = presser->changed || presser->search.next == 0;
    return true;
}

static void row_work(struct mgb_presser *presser)
{
    struct presser_base base = {presser->facts, &presser->request, presser->preview,
                                presser->segment != 0};
    int row = presser->next++;
    mgb_presser_row_find(&presser->rows[row], &presser->lookups[row], &base);
    if (presser->next < presser->count)
        return;
    mgb_preview_free(presser->preview);
    presser->preview = NULL;
}

bool mgb_presser_work(struct mgb_presser *presser)
{
    answers_take(presser);
    if (presser->next == presser->count) {
        desk_ask(presser);
        return search_work(presser);
    }
    presser->changed = true;
    if (presser->preview)
        row_work(presser);
    else if (mgb_session_preview(&presser->preview, &presser->request) != MGB_OK)
        base_refused(presser);
    else
        base_found(presser);
    desk_ask(presser);
    return true;
}

static void pressed_free(void *part)
{
    free(part);
}

static bool is_complete(const struct mgb_presser *presser)
{
    bool complete = presser->next == presser->count;
    for (int i = 0; i < presser->count; i++)
        complete = complete && (!presser->waiting[i] || presser->answered[i]);
    return complete;
}

const struct mgb_pressed *mgb_presser_look(struct mgb_presser *presser, bool *fresh)
{
    answers_take(presser);
    *fresh = presser->changed || !presser->last;
    if (!*fresh)
        return mgb_shared_hold(presser->last);
    struct mgb_pressed *out = calloc(1, sizeof *out);
    if (!out)
        return NULL;
    atomic_init(&out->shared.holders, 2); /* the caller, and here */
    out->shared.free = pressed_free;
    out->count = presser->count;
    out->complete = is_complete(presser);
    out->largest_batch = presser->search.next ? 0 : presser->search.fits;
    memcpy(out->rows, presser->rows, sizeof out->rows);
    mgb_shared_drop(presser->last);
    presser->last = out;
    presser->changed = false;
    return out;
}
