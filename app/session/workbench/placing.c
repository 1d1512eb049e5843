/* Changes of placement: several that wait are one; those that are refused together are tried one by one, so that only what
 * cannot be is left out. */
#include "app/session/workbench/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_unset(const struct mgb_assignment *a)
{
    return strcmp(a->value, "nil") == 0;
}

static const struct mgb_assignment *assignment_find(const struct mgb_queued *wish,
                                                    enum mgb_option_id option)
{
    for (int i = 0; i < wish->count; i++)
        if (wish->at[i].option == option)
            return &wish->at[i];
    return NULL;
}

/* One of batch and global_batch clears the other: to say both would contradict itself. */
static bool is_said(const struct mgb_queued *wish, const struct mgb_assignment *a)
{
    enum mgb_option_id other = a->option == MGB_OPTION_BATCH          ? MGB_OPTION_GLOBAL_BATCH
                               : a->option == MGB_OPTION_GLOBAL_BATCH ? MGB_OPTION_BATCH
                                                                      : MGB_OPTION_COUNT;
    const struct mgb_assignment *twin = assignment_find(wish, other);
    return !(twin && is_unset(a) && !is_unset(twin));
}

static bool names_strategy(enum mgb_option_id option)
{
    return option == MGB_OPTION_STRATEGY || option == MGB_OPTION_LIKE;
}

enum part { PART_ALL, PART_STRATEGY, PART_REST };

static enum mgb_status session_set(struct mgb_workbench *bench, const struct mgb_queued *wish,
                                   enum part part)
{
    char **words = calloc(MGB_OPTION_COUNT + 1, sizeof *words);
    enum mgb_status status = MGB_OK;
    int count = 0;
    for (int i = 0; words && i < wish->count; i++) {
        const struct mgb_assignment *a = &wish->at[i];
        bool wanted = part == PART_ALL || (part == PART_STRATEGY) == names_strategy(a->option);
        if (!wanted || !is_said(wish, a))
            continue;
        if (asprintf(&words[count], "%s=%s", mgb_placement_options()[a->option].name, a->value) < 0)
            words[count] = NULL;
        else
            count++;
    }
    status = words ? mgb_bench_call(bench, NULL, "set", (const char *const *)words)
                   : mgb_fail(MGB_NO_MEMORY, "changing a placement: memory is exhausted");
    mgb_bench_words_free(words);
    return status;
}

static enum mgb_status ready_set(struct mgb_workbench *bench, const struct mgb_queued *wish)
{
    struct mgb_placement asked = bench->asked;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < wish->count; i++) {
            const struct mgb_assignment *a = &wish->at[i];
            if (is_unset(a) == (pass == 0))
                MGB_TRY(
                    mgb_placement_set(&asked, mgb_placement_options()[a->option].name, a->value));
        }
    return mgb_bench_look(bench, &asked);
}

/* A strategy and options that mean nothing under it cannot be given in one call, and may be asked for at once by who goes
 * back to them: the strategy first. */
static enum mgb_status wish_set(struct mgb_workbench *bench, const struct mgb_queued *wish)
{
    if (!bench->session)
        return ready_set(bench, wish);
    enum mgb_status status = session_set(bench, wish, PART_ALL);
    bool strategy =
        assignment_find(wish, MGB_OPTION_STRATEGY) || assignment_find(wish, MGB_OPTION_LIKE);
    if (status != MGB_INVALID || !strategy || wish->count < 2)
        return status;
    MGB_TRY(session_set(bench, wish, PART_STRATEGY));
    return session_set(bench, wish, PART_REST);
}

static void merge(struct mgb_queued *out, const struct mgb_queued *wish)
{
    for (int i = 0; i < wish->count; i++) {
        struct mgb_assignment *at =
            (struct mgb_assignment *)assignment_find(out, wish->at[i].option);
        if (!at)
            at = &out->at[out->count++];
        *at = wish->at[i];
    }
}

static void refused_tell(struct mgb_workbench *bench, enum mgb_status status)
{
    char message[600];
    const char *on = bench->session ? "; the placement before goes on" : "";
    snprintf(message, sizeof message, "%.500s%s", mgb_message_get(), status == MGB_OOM ? on : "");
    mgb_bench_complain(bench, message);
}

static bool one_set(struct mgb_workbench *bench, const struct mgb_queued *wish)
{
    enum mgb_status status = wish_set(bench, wish);
    if (status == MGB_OK)
        return true;
    refused_tell(bench, status);
    mgb_bench_refused(bench, wish);
    return false;
}

static void changed_tell(struct mgb_workbench *bench, int segment)
{
    if (!bench->session)
        mgb_bench_say(bench, MGB_LINE_NOTE, "ready: %s", bench->draft->now.title);
    else if (bench->segment != segment)
        mgb_bench_say(bench, MGB_LINE_NOTE, "segment %d: %s", bench->segment,
                      bench->draft->now.title);
    else
        mgb_bench_say(bench, MGB_LINE_NOTE, "nothing changes: what is in effect is the same");
}

void mgb_bench_place(struct mgb_workbench *bench, struct mgb_queued *wishes)
{
    struct mgb_queued *merged = calloc(1, sizeof *merged);
    enum mgb_bench_state before = bench->state;
    int segment = bench->segment;
    bool well = false;
    if (!merged) {
        mgb_bench_complain(bench, "changing a placement: memory is exhausted");
        mgb_bench_in_force(bench, NULL);
        return;
    }
    if (bench->session)
        mgb_bench_set_state(bench, MGB_BENCH_OPENING, "moving to another placement");
    for (const struct mgb_queued *wish = wishes; wish; wish = wish->next)
        merge(merged, wish);
    if (!wishes->next) {
        well = one_set(bench, wishes);
    } else if (wish_set(bench, merged) == MGB_OK) {
        well = true;
    } else {
        for (const struct mgb_queued *wish = wishes; wish; wish = wish->next)
            well = one_set(bench, wish) && well;
    }
    free(merged);
    if (bench->session)
        bench->state = before;
    bench->draft->doing[0] = '\0';
    if (well && !*bench->offered.misfit)
        bench->draft->message[0] = '\0';
    if (well || bench->segment != segment)
        changed_tell(bench, segment);
    mgb_bench_in_force(bench, NULL);
}
