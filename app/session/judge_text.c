/* A judgement in words; see judge.h. */
#include "app/session/judge.h"

#include "app/script/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <mgb/text.h>

static char *number(char out[40], double value)
{
    return isfinite(value) && value >= 0 ? mgb_format_figure(out, value) : strcpy(out, "-");
}

static void side_write(FILE *out, const char *name, const struct mgb_judgement *j,
                       const struct mgb_location *at, const struct mgb_judged_side *side)
{
    char text[40], low[40], high[40];
    double nan = (double)NAN;
    fprintf(out, "%s %s %s", name, number(text, at->ns > 0 ? at->ns / 1e6 : nan),
            j->per_example ? "ms/example" : "ms");
    if (at->ns > 0 && at->high_ns > at->low_ns)
        fprintf(out, " [%s, %s]", number(low, at->low_ns / 1e6), number(high, at->high_ns / 1e6));
    if (side->simulated)
        fputs(" simulated", out);
    fprintf(out, " n=%zux%lld", side->repetitions, (long long)side->least_steps);
    if (side->most_steps > side->least_steps)
        fprintf(out, "..%lld", (long long)side->most_steps);
}

void mgb_judge_line(char *out, size_t size, const struct mgb_judgement *judgement)
{
    const struct mgb_comparison *c = &judgement->comparison;
    char ratio[40], low[40], high[40];
    FILE *text = fmemopen(out, size, "w");
    if (!text) {
        snprintf(out, size, "memory is exhausted");
        return;
    }
    side_write(text, "A", judgement, &c->a, &judgement->a);
    side_write(text, "   B", judgement, &c->b, &judgement->b);
    fprintf(text, "   B/A %s", number(ratio, c->ratio > 0 ? c->ratio : (double)NAN));
    if (c->ratio > 0 && c->high > c->low && c->reason != MGB_REASON_SINGLE &&
        c->reason != MGB_REASON_FEW_STEPS)
        fprintf(text, " [%s, %s]", number(low, c->low), number(high, c->high));
    fprintf(text, "  %s", mgb_verdict_name(c->verdict));
    if (c->verdict == MGB_VERDICT_SAME)
        fprintf(text, " within %s %%", number(ratio, 100 * c->floor));
    fclose(text);
    out[size - 1] = '\0';
}

void mgb_judge_reason(char *out, size_t size, const struct mgb_judgement *judgement)
{
    const struct mgb_comparison *c = &judgement->comparison;
    const char *why = *judgement->refusal ? judgement->refusal : mgb_reason_text(c->reason);
    *out = '\0';
    if (c->verdict != MGB_VERDICT_UNDECIDED && c->verdict != MGB_VERDICT_REFUSED)
        return;
    if (c->more_repetitions > 0)
        snprintf(out, size, "%s: %s; about %zu more repetition%s of each would settle it",
                 mgb_verdict_name(c->verdict), why, c->more_repetitions,
                 c->more_repetitions == 1 ? "" : "s");
    else
        snprintf(out, size, "%s: %s", mgb_verdict_name(c->verdict), why);
}

void mgb_judge_evidence(char *out, size_t size, const struct mgb_judgement *judgement)
{
    const struct mgb_comparison *c = &judgement->comparison;
    char floor[40], p[40], adjusted[40], rank[40], smallest[40];
    size_t used = (size_t)snprintf(
        out, size, "%s; noise floor %s %% (%s)",
        judgement->per_example ? "time an example (the global batches differ)" : "time a step",
        number(floor, 100 * c->floor), judgement->floor_source);
    if (!isnan(c->p) && used < size)
        used += (size_t)snprintf(out + used, size - used, "; p %s", number(p, c->p));
    if (!isnan(c->p) && c->p_adjusted > c->p && used < size)
        used += (size_t)snprintf(out + used, size - used, ", %s among all cells (Holm)",
                                 number(adjusted, c->p_adjusted));
    if (c->a.repetitions > 1 && c->b.repetitions > 1 && used < size) {
        used += (size_t)snprintf(out + used, size - used, "; second opinion: Mann-Whitney p %s",
                                 number(rank, c->rank_p));
        if (c->rank_p_smallest > 0.05 && used < size)
            snprintf(out + used, size - used, " (with so few repetitions it cannot be below %s)",
                     number(smallest, c->rank_p_smallest));
    }
}
