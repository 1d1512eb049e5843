/* See goal.h. */
#include "app/session/goal.h"

#include "app/script/services.h"
#include "db/bootstrap.h"

enum {
    WINDOWS = MGB_STEADY_WINDOW * (MGB_STEADY_AGREEMENTS + 1), /* steps that the rule must see */
    FLOOR = 1 + MGB_STEADY_FLOOR_STEPS
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void mgb_session_goal_begin(struct session_goal *goal, int64_t steps)
{
    goal->steps = steps;
    goal->reason = NULL;
    goal->next = goal->warmup == MGB_WARMUP_AUTO ? larger(steps + FLOOR, FLOOR + WINDOWS)
                                                 : steps + goal->warmup;
}

/* No automatic warm-up goes beyond it, found or not. Large enough for the rule's floor to be below its cap. */
static int64_t most_steps(const struct session_goal *goal, int64_t floor)
{
    return larger(MGB_GOAL_TIMES * (goal->steps + floor), floor + WINDOWS);
}

/* How many steps the rule should see next; 0: no more. */
static int64_t settle_next(const struct session_goal *goal, const struct mgb_steady *found,
                           int64_t count)
{
    int64_t floor = (int64_t)found->floor_steps;
    if (floor >= count) /* its second is not over yet */
        return 2 * count;
    int64_t most = most_steps(goal, floor), next = count + count / 4 + 1;
    if (found->answer == MGB_STEADY_SHORT)
        next = larger(larger(MGB_GOAL_TIMES * floor, floor + WINDOWS), count + 1);
    return count >= most ? 0 : next < most ? next : most;
}

/* What cannot be found out for want of memory is not met. */
static bool noise_met(const struct session_goal *goal, const int64_t *wall_ns, int64_t count)
{
    struct mgb_interval interval;
    if (mgb_bootstrap_median(&interval, wall_ns, (size_t)count, 0, 0) != MGB_OK ||
        interval.block == 0)
        return false;
    return (interval.high_ns - interval.low_ns) / 2 <= goal->target_noise * interval.median_ns;
}

void mgb_session_goal_look(struct session_goal *goal, const struct session_series *series)
{
    const struct mgb_stats *stats = &series->stats;
    int64_t count = (int64_t)stats->count, warmup = goal->warmup;
    if (warmup == MGB_WARMUP_AUTO) {
        struct mgb_steady found = mgb_stats_judge(stats);
        int64_t next = found.answer == MGB_STEADY ? 0 : settle_next(goal, &found, count);
        warmup = (int64_t)found.warmup_steps;
        if (next > 0) {
            goal->next = next;
            return;
        }
    }
    int64_t timed = count - warmup, least = goal->steps;
    if (goal->target_noise > 0)
        least = larger(least, MGB_BOOTSTRAP_MIN_STEPS);
    if (timed < least)
        goal->next = count + least - timed;
    else if (!(goal->target_noise > 0))
        goal->reason = "steps";
    else if (noise_met(goal, stats->wall_ns + warmup, timed))
        goal->reason = "noise";
    else
        goal->next = count + larger(timed / 4, MGB_BOOTSTRAP_MIN_STEPS);
    if (series->cut && !goal->reason) /* no more of them will be seen */
        goal->reason = "steps";
}

bool mgb_session_goal_late(struct session_goal *goal, const struct session_series *series)
{
    const struct mgb_stats *stats = &series->stats;
    if (!goal->max_time_ns || stats->count == 0)
        return false;
    size_t last = stats->count - 1;
    int64_t end = stats->start_ns[last] + stats->wall_ns[last];
    if (end - stats->start_ns[0] < goal->max_time_ns)
        return false;
    goal->reason = "time";
    return true;
}
