/* The stages of a plan in class form: what towers do by themselves, then what needs all of them, and again. */
#include "engine/sim/classes.h"

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "simulating tower classes: the host's memory is exhausted");
}

static void *array_make(struct mgb_sim_classes *k, int count, size_t size)
{
    return mgb_pool_alloc(&k->ways.pool, ((size_t)count + 1) * size);
}

static bool is_local(const struct mgb_sim_classes *k, int item)
{
    return k->items[item].class != MGB_ROOT && k->items[item].meet < 0;
}

/* A tower's task comes a stage after what is common; what is common comes in the stage of the towers' tasks. */
static void stage_raise(struct mgb_sim_classes *k, int i, int on, bool own)
{
    bool here = is_local(k, i), there = is_local(k, on) && (own || !here);
    int stage = k->items[on].stage + (here && !there);
    k->items[i].stage = stage > k->items[i].stage ? stage : k->items[i].stage;
}

static void stages_number(struct mgb_sim_classes *k)
{
    k->stage_count = 1;
    for (int i = 0; i < k->plan->task_count; i++) {
        struct mgb_sim_item *item = &k->items[i];
        if (item->before >= 0)
            stage_raise(k, i, item->before, true);
        for (int n = item->wait_begin; n < k->items[i + 1].wait_begin; n++)
            stage_raise(k, i, k->waits.at[n].item, k->waits.at[n].own);
        if (item->meet >= 0) {
            struct mgb_sim_meet *meet = &k->meets[item->meet];
            int *stage = &k->meet_stage[item->meet];
            *stage = item->stage > *stage ? item->stage : *stage;
            for (int m = meet->begin; i + 1 == meet->end && m < meet->end; m++)
                k->items[m].stage = *stage;
        }
        k->stage_count = item->stage + 1 > k->stage_count ? item->stage + 1 : k->stage_count;
    }
}

static enum mgb_status meets_find(struct mgb_sim_classes *k)
{
    k->meet_count = k->plan->collective_count;
    k->meets = array_make(k, k->meet_count, sizeof *k->meets);
    k->meet_stage = array_make(k, k->meet_count, sizeof *k->meet_stage);
    if (!k->meets || !k->meet_stage)
        return no_memory();
    for (int i = 0; i < k->plan->task_count; i++) {
        if (k->items[i].meet < 0)
            continue;
        struct mgb_sim_meet *meet = &k->meets[k->items[i].meet];
        if (meet->end == 0)
            meet->begin = i;
        meet->end = i + 1;
    }
    return MGB_OK;
}

static enum mgb_status waits_check(const struct mgb_sim_classes *k)
{
    for (int i = 0; i < k->plan->task_count; i++)
        for (int n = k->items[i].wait_begin; n < k->items[i + 1].wait_begin; n++)
            if (k->waits.at[n].own && k->items[k->waits.at[n].item].class != k->items[i].class)
                return mgb_fail(MGB_UNSUPPORTED,
                                "tower classes: '%s' waits for one tower of another class; use "
                                "the engine of events",
                                k->plan->tasks[i].name);
    return MGB_OK;
}

/* By class, then stage, then plan. */
static void members_number(struct mgb_sim_classes *k, int *begin)
{
    int stages = k->stage_count;
    for (int i = 0; i < k->plan->task_count; i++)
        if (k->items[i].class != MGB_ROOT)
            begin[k->items[i].class * stages + k->items[i].stage + 1]++;
    for (int at = 0; at < k->plan->class_count * stages; at++)
        begin[at + 1] += begin[at];
    for (int c = 0; c < k->plan->class_count; c++) {
        struct mgb_sim_crowd *crowd = &k->crowds[c];
        for (int s = 0; s <= stages; s++)
            crowd->stage_begin[s] = begin[c * stages + s];
        crowd->member_begin = crowd->stage_begin[0];
        crowd->member_end = crowd->stage_begin[stages];
    }
    for (int i = 0; i < k->plan->task_count; i++) {
        struct mgb_sim_item *item = &k->items[i];
        if (item->class == MGB_ROOT)
            continue;
        item->member = begin[item->class * stages + item->stage]++;
        k->members[item->member] = (struct mgb_sim_member){.item = i, .slot = -1};
    }
    k->member_count = k->crowds[k->plan->class_count - 1].member_end;
}

static enum mgb_status members_make(struct mgb_sim_classes *k)
{
    int classes = k->plan->class_count, stages = k->stage_count;
    int *begin = mgb_alloc(((size_t)classes * (size_t)stages + 2) * sizeof *begin);
    int *stage_begin = array_make(k, classes * (stages + 1), sizeof *stage_begin);
    k->members = array_make(k, k->plan->task_count, sizeof *k->members);
    k->crowds = array_make(k, classes, sizeof *k->crowds);
    bool made = begin && stage_begin && k->members && k->crowds;
    for (int c = 0; made && c < classes; c++)
        k->crowds[c].stage_begin = stage_begin + c * (stages + 1);
    if (made)
        members_number(k, begin);
    mgb_release(begin);
    return made ? MGB_OK : no_memory();
}

/* The end of a tower's task is read in its own tower, or of all towers for something common. */
static void read_add(struct mgb_sim_classes *k, int i, int on, bool own)
{
    if (!is_local(k, on))
        return;
    struct mgb_sim_member *source = &k->members[k->items[on].member];
    if (!is_local(k, i) || !own) {
        source->folded = true;
        source->gives |= k->items[i].meet >= 0;
        return;
    }
    if (k->items[on].stage != k->items[i].stage && source->slot < 0)
        source->slot = 0;
    k->refs[k->ref_count++] = k->items[on].member;
}

static void reads_add(struct mgb_sim_classes *k)
{
    for (int i = 0; i < k->plan->task_count; i++) {
        const struct mgb_sim_item *item = &k->items[i];
        int begin = k->ref_count;
        if (item->before >= 0)
            read_add(k, i, item->before, true);
        for (int n = item->wait_begin; n < k->items[i + 1].wait_begin; n++)
            read_add(k, i, k->waits.at[n].item, k->waits.at[n].own);
        if (item->member < 0)
            continue;
        k->members[item->member].ref_begin = begin;
        k->members[item->member].ref_count = k->ref_count - begin;
    }
    for (int l = 0; l < k->lane_count; l++) /* the step ends when the last queue is done */
        if (is_local(k, k->lanes[l].last))
            k->members[k->items[k->lanes[l].last].member].folded = true;
}

/* Towers keep what later stages read of them; classes share the places. */
static void slots_number(struct mgb_sim_classes *k)
{
    for (int c = 0; c < k->plan->class_count; c++) {
        int slots = 0;
        for (int m = k->crowds[c].member_begin; m < k->crowds[c].member_end; m++)
            if (k->members[m].slot >= 0)
                k->members[m].slot = slots++;
        k->slot_count = slots > k->slot_count ? slots : k->slot_count;
    }
}

static bool is_counted(const struct mgb_sim_classes *k, int i)
{
    const struct mgb_sim_item *item = &k->items[i];
    return item->meet >= 0 ? i + 1 == k->meets[item->meet].end : item->class == MGB_ROOT;
}

static enum mgb_status singles_sort(struct mgb_sim_classes *k)
{
    int *begin = mgb_alloc(((size_t)k->stage_count + 1) * sizeof *begin);
    k->singles = array_make(k, k->plan->task_count, sizeof *k->singles);
    if (!begin || !k->singles) {
        mgb_release(begin);
        return no_memory();
    }
    for (int i = 0; i < k->plan->task_count; i++)
        if (is_counted(k, i))
            begin[k->items[i].stage + 1]++;
    for (int s = 0; s < k->stage_count; s++)
        begin[s + 1] += begin[s];
    k->single_count = begin[k->stage_count];
    for (int i = 0; i < k->plan->task_count; i++)
        if (is_counted(k, i))
            k->singles[begin[k->items[i].stage]++] = i;
    mgb_release(begin);
    return MGB_OK;
}

/* Who is late is known once, before towers meet: so all of their meetings are in the first stage. */
static enum mgb_status backups_check(const struct mgb_sim_classes *k)
{
    if (k->backups == 0)
        return MGB_OK;
    if (k->backups >= k->plan->tower_count)
        return mgb_fail(MGB_INVALID,
                        "backups = %d on %d GPUs: a step has to wait for at least one of them",
                        k->backups, k->plan->tower_count);
    bool meets = k->meet_count > 0;
    for (int m = 0; m < k->meet_count; m++)
        meets &= k->meet_stage[m] == 0;
    for (int i = 0; i < k->plan->task_count; i++) {
        bool tower = k->plan->tasks[i].class != MGB_ROOT;
        meets &= !tower || k->items[i].class != MGB_ROOT;
    }
    return meets ? MGB_OK
                 : mgb_fail(MGB_UNSUPPORTED,
                            "backups = %d: replicas have to meet in nothing but the all-reduces of "
                            "their gradients; use strategy = \"allreduce\" and bn "
                            "= \"tower\"",
                            k->backups);
}

enum mgb_status mgb_sim_classes_order(struct mgb_sim_classes *k)
{
    MGB_TRY(waits_check(k));
    MGB_TRY(meets_find(k));
    stages_number(k);
    MGB_TRY(backups_check(k));
    MGB_TRY(members_make(k));
    k->refs = array_make(k, k->waits.count + k->plan->task_count, sizeof *k->refs);
    if (!k->refs)
        return no_memory();
    reads_add(k);
    slots_number(k);
    return singles_sort(k);
}
