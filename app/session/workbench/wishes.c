/* Wishes that wait, what they come to together, and what can be undone. All of it behind the lock, which is never held
 * while something is done. */
#include "app/session/workbench/driver.h"
#include <mgb/name.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_placement(enum mgb_wish_kind kind)
{
    return kind == MGB_WISH_TOGGLE || kind == MGB_WISH_SET || kind == MGB_WISH_UNDO;
}

/* What a wish to stop ends, also before it began. */
static bool is_long(enum mgb_wish_kind kind)
{
    return kind == MGB_WISH_RUN || kind == MGB_WISH_VERIFY || kind == MGB_WISH_TRACE ||
           kind == MGB_WISH_TURNS || kind == MGB_WISH_EVAL || kind == MGB_WISH_SWEEP;
}

/* What the snapshot has words for while it is done. */
static bool is_told(enum mgb_wish_kind kind)
{
    return kind == MGB_WISH_VERIFY || kind == MGB_WISH_EVAL || kind == MGB_WISH_SWEEP;
}

void mgb_bench_wish_free(struct mgb_queued *wishes)
{
    while (wishes) {
        struct mgb_queued *next = wishes->next;
        free(wishes->text);
        free(wishes);
        wishes = next;
    }
}

static const char *assignment_value(const struct mgb_placement *placement, char *out, size_t size,
                                    enum mgb_option_id id)
{
    mgb_placement_get_text(out, size, placement, id);
    if (!*out)
        snprintf(out, size, "nil");
    return out;
}

static void assignment_add(struct mgb_queued *wish, enum mgb_option_id option, const char *value)
{
    struct mgb_assignment *at = NULL;
    for (int i = 0; i < wish->count; i++)
        if (wish->at[i].option == option)
            at = &wish->at[i];
    if (!at)
        at = &wish->at[wish->count++];
    at->option = option;
    snprintf(at->value, sizeof at->value, "%s", value);
}

static bool is_given(const struct mgb_placement *placement, enum mgb_option_id id)
{
    return placement->given >> id & 1;
}

/* The short flags contradict the places that they are short for: a key that moves one takes the other back. */
static void toggle_clear(struct mgb_queued *wish, const struct mgb_placement *wanted,
                         enum mgb_option_id id)
{
    enum mgb_option_id twin = mgb_toggle_twin(id);
    if (twin != MGB_OPTION_COUNT && is_given(wanted, twin))
        assignment_add(wish, twin, "nil");
}

static enum mgb_status toggle_read(struct mgb_workbench *bench, struct mgb_queued *out,
                                   const struct mgb_wish *wish)
{
    char value[512], reason[240];
    const struct mgb_facts *facts = bench->snapshot ? bench->snapshot->facts : NULL;
    if (!facts)
        return mgb_fail(MGB_INVALID, bench->starting ? "the model is being built"
                                                     : "there is no model yet: choose one first");
    if (wish->option >= MGB_OPTION_COUNT)
        return mgb_fail(MGB_INVALID, "there is no such option");
    if (!mgb_toggle_next(value, sizeof value, reason, sizeof reason, wish->option, wish->direction,
                         facts, &bench->wanted))
        return mgb_fail(MGB_INVALID, "%s: %s", mgb_placement_options()[wish->option].name, reason);
    toggle_clear(out, &bench->wanted, wish->option);
    assignment_add(out, wish->option, value);
    return MGB_OK;
}

/* "a=1 b=/cpu:0": each is checked against what is wanted by then. */
static enum mgb_status set_read(struct mgb_workbench *bench, struct mgb_queued *out,
                                const struct mgb_wish *wish)
{
    struct mgb_placement trial = bench->wanted;
    char text[1024], *rest = NULL;
    if ((size_t)snprintf(text, sizeof text, "%s", wish->text ? wish->text : "") >= sizeof text)
        return mgb_fail(MGB_INVALID, "set: more than %zu characters", sizeof text - 1);
    for (char *pair = strtok_r(text, " \t", &rest); pair; pair = strtok_r(NULL, " \t", &rest)) {
        char *equals = strchr(pair, '='), value[512];
        if (!equals)
            return mgb_fail(MGB_INVALID, "set: name=value expected, got '%s'", pair);
        *equals = '\0';
        const struct mgb_option *option = mgb_placement_find_option(pair);
        MGB_TRY(mgb_placement_set(&trial, pair, equals[1] ? equals + 1 : "nil"));
        assignment_add(out, option->id, assignment_value(&trial, value, sizeof value, option->id));
    }
    return out->count ? MGB_OK : mgb_fail(MGB_INVALID, "set: name=value expected, got nothing");
}

void mgb_bench_difference(struct mgb_queued *out, const struct mgb_placement *from,
                          const struct mgb_placement *to)
{
    char now[512], then[512];
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        enum mgb_option_id id = (enum mgb_option_id)i;
        assignment_value(from, now, sizeof now, id);
        assignment_value(to, then, sizeof then, id);
        if (strcmp(now, then) != 0)
            assignment_add(out, id, then);
    }
}

static enum mgb_status undo_read(struct mgb_workbench *bench, struct mgb_queued *out)
{
    if (bench->undo_count == 0)
        return mgb_fail(MGB_INVALID, "there is no change of placement to undo");
    mgb_bench_difference(out, &bench->wanted, &bench->undo[bench->undo_count - 1].before);
    bench->undo_count--;
    return MGB_OK;
}

/* Values that unset come first: one of batch and global_batch clears the other. */
static void assignments_apply(struct mgb_placement *placement, const struct mgb_queued *wish)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < wish->count; i++) {
            const struct mgb_assignment *a = &wish->at[i];
            if ((strcmp(a->value, "nil") == 0) == (pass == 0))
                (void)mgb_placement_set(placement, mgb_placement_options()[a->option].name,
                                        a->value);
        }
}

static void undo_push(struct mgb_workbench *bench, uint64_t serial,
                      const struct mgb_placement *before)
{
    if (bench->undo_count == MGB_UNDO_MOST) {
        memmove(bench->undo, bench->undo + 1, (MGB_UNDO_MOST - 1) * sizeof *bench->undo);
        bench->undo_count--;
    }
    bench->undo[bench->undo_count++] = (struct mgb_undo){serial, *before};
}

static enum mgb_status placement_read(struct mgb_workbench *bench, struct mgb_queued *out,
                                      const struct mgb_wish *wish)
{
    if (wish->kind == MGB_WISH_UNDO)
        MGB_TRY(undo_read(bench, out));
    else if (wish->kind == MGB_WISH_TOGGLE)
        MGB_TRY(toggle_read(bench, out, wish));
    else
        MGB_TRY(set_read(bench, out, wish));
    if (wish->kind != MGB_WISH_UNDO)
        undo_push(bench, out->serial, &bench->wanted);
    assignments_apply(&bench->wanted, out);
    return MGB_OK;
}

static enum mgb_status wish_check(const struct mgb_workbench *bench, const struct mgb_wish *wish)
{
    bool has_model = bench->starting || (bench->snapshot && bench->snapshot->facts);
    const char *text = wish->text ? wish->text : "";
    if (bench->options.readonly && wish->kind != MGB_WISH_PAUSE && wish->kind != MGB_WISH_STOP)
        return mgb_fail(MGB_INVALID,
                        "nothing is run or changed here: the program was started with --readonly");
    if ((wish->kind == MGB_WISH_RUN || wish->kind == MGB_WISH_VERIFY ||
         wish->kind == MGB_WISH_TRACE || wish->kind == MGB_WISH_TURNS) &&
        !has_model && !bench->first)
        return mgb_fail(MGB_INVALID, "there is no model yet: choose one first");
    if ((wish->kind == MGB_WISH_MODEL || wish->kind == MGB_WISH_EVAL ||
         wish->kind == MGB_WISH_SAVE || wish->kind == MGB_WISH_SWEEP ||
         wish->kind == MGB_WISH_NOTE || wish->kind == MGB_WISH_WARMUP) &&
        !*text)
        return mgb_fail(MGB_INVALID, "a text is missing");
    if (wish->kind == MGB_WISH_TAG)
        MGB_TRY(mgb_name_check("tag", text));
    return MGB_OK;
}

static void queue_add(struct mgb_workbench *bench, struct mgb_queued *wish)
{
    if (bench->last)
        bench->last->next = wish;
    else
        bench->first = wish;
    bench->last = wish;
}

static enum mgb_status wish_queue(struct mgb_workbench *bench, const struct mgb_wish *wish)
{
    struct mgb_queued *queued = calloc(1, sizeof *queued);
    if (!queued)
        return mgb_fail(MGB_NO_MEMORY, "taking a wish: memory is exhausted");
    queued->kind = wish->kind;
    queued->run = wish->run;
    queued->serial = ++bench->serials;
    queued->text = wish->text ? strdup(wish->text) : NULL;
    enum mgb_status status = wish->text && !queued->text
                                 ? mgb_fail(MGB_NO_MEMORY, "taking a wish: memory is exhausted")
                                 : MGB_OK;
    if (status == MGB_OK && is_placement(wish->kind))
        status = placement_read(bench, queued, wish);
    if (status != MGB_OK) {
        mgb_bench_wish_free(queued);
        return status;
    }
    queue_add(bench, queued);
    mgb_hub_yield(bench->hub, true);
    if (wish->kind == MGB_WISH_STOP) {
        bench->stops++;
        mgb_hub_stop(bench->hub);
        mgb_script_stop(bench->script);
    }
    pthread_cond_signal(&bench->wake);
    return MGB_OK;
}

enum mgb_status mgb_bench_ask(struct mgb_workbench *bench, const struct mgb_wish *wish)
{
    enum mgb_status status = wish_check(bench, wish);
    return status == MGB_OK ? wish_queue(bench, wish) : status;
}

void mgb_bench_pending(struct mgb_workbench *bench, struct mgb_pending *out)
{
    char now[512], then[512];
    *out = (struct mgb_pending){.wishes = bench->doing + bench->starting,
                                .busy = bench->busy,
                                .blocked = atomic_load(&bench->blocked)};
    for (const struct mgb_queued *wish = bench->first; wish; wish = wish->next)
        out->wishes++;
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        enum mgb_option_id id = (enum mgb_option_id)i;
        mgb_placement_get_text(now, sizeof now, &bench->in_force, id);
        mgb_placement_get_text(then, sizeof then, &bench->wanted, id);
        if (strcmp(now, then) == 0)
            continue;
        out->options |= UINT64_C(1) << i;
        snprintf(out->value[i], sizeof out->value[i], "%.63s", then);
    }
}

static struct mgb_queued *queue_pop(struct mgb_workbench *bench)
{
    struct mgb_queued *wish = bench->first;
    bench->first = wish->next;
    if (!bench->first)
        bench->last = NULL;
    wish->next = NULL;
    return wish;
}

struct mgb_queued *mgb_bench_take(struct mgb_workbench *bench)
{
    pthread_mutex_lock(&bench->lock);
    if (bench->quit) { /* what ends it must not be taken back */
        pthread_mutex_unlock(&bench->lock);
        return NULL;
    }
    mgb_hub_resume(bench->hub);
    mgb_script_resume(bench->script);
    while (bench->first && bench->stops && is_long(bench->first->kind))
        mgb_bench_wish_free(queue_pop(bench));
    struct mgb_queued *taken = bench->first ? queue_pop(bench) : NULL;
    if (taken && taken->kind == MGB_WISH_STOP)
        bench->stops--;
    for (struct mgb_queued *last = taken;
         last && is_placement(last->kind) && bench->first && is_placement(bench->first->kind);
         last = last->next)
        last->next = queue_pop(bench);
    for (const struct mgb_queued *wish = taken; wish; wish = wish->next)
        bench->doing++;
    bench->busy += taken && is_told(taken->kind);
    mgb_hub_yield(bench->hub, bench->first != NULL);
    pthread_mutex_unlock(&bench->lock);
    return taken;
}

/* Changes asked later were asked on top of this one: what they would go back to is without it. */
void mgb_bench_refused(struct mgb_workbench *bench, const struct mgb_queued *wish)
{
    char value[512];
    int at = 0;
    pthread_mutex_lock(&bench->lock);
    while (at < bench->undo_count && bench->undo[at].serial != wish->serial)
        at++;
    if (at < bench->undo_count) {
        struct mgb_placement before = bench->undo[at].before;
        for (int later = at + 1; later < bench->undo_count; later++)
            for (int i = 0; i < wish->count; i++)
                (void)mgb_placement_set(
                    &bench->undo[later].before, mgb_placement_options()[wish->at[i].option].name,
                    assignment_value(&before, value, sizeof value, wish->at[i].option));
        bench->undo_count--;
        memmove(bench->undo + at, bench->undo + at + 1,
                (size_t)(bench->undo_count - at) * sizeof *bench->undo);
    }
    pthread_mutex_unlock(&bench->lock);
}

void mgb_bench_in_force(struct mgb_workbench *bench, const struct mgb_placement *before)
{
    pthread_mutex_lock(&bench->lock);
    bench->in_force = bench->asked;
    bench->wanted = bench->asked;
    for (const struct mgb_queued *wish = bench->first; wish; wish = wish->next)
        assignments_apply(&bench->wanted, wish);
    if (before)
        undo_push(bench, 0, before);
    pthread_mutex_unlock(&bench->lock);
}
