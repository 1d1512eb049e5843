/* Repetitions of a side that are unlike the others: found, and worded. See judge.h. */
#include "app/session/judge.h"

#include "app/script/table.h"
#include "db/order.h"
#include "db/outlier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

static double median_get(const struct mgb_series *series, double *scratch)
{
    for (size_t i = 0; i < series->count; i++)
        scratch[i] = (double)series->wall_ns[i];
    mgb_order_sort(scratch, series->count);
    return mgb_order_median(scratch, series->count);
}

/* The oddest of them, and the range of those that are not odd. */
static void odd_set(struct mgb_judged_odd *out, const double *medians, const bool *odd,
                    size_t count, double middle)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double times = medians[i] > middle ? medians[i] / middle : middle / medians[i];
        if (!odd[i]) {
            out->low_ns = out->like++ == 0 || medians[i] < out->low_ns ? medians[i] : out->low_ns;
            out->high_ns = medians[i] > out->high_ns ? medians[i] : out->high_ns;
        } else if (times > most) {
            most = times;
            out->number = i + 1;
            out->ns = medians[i];
        }
    }
}

static bool is_judged(const struct mgb_side *side, size_t *longest)
{
    *longest = 1;
    for (size_t i = 0; i < side->count; i++) {
        const struct mgb_series *series = &side->repetitions[i];
        *longest = series->count > *longest ? series->count : *longest;
        if (series->count == 0)
            return false;
        for (size_t k = 0; k < series->count; k++)
            if (series->wall_ns[k] <= 0)
                return false;
    }
    return true;
}

static enum mgb_status side_look(struct mgb_judged_odd *out, const struct mgb_side *side,
                                 size_t longest)
{
    size_t n = side->count, found = 0;
    double *medians = calloc(n + 1, sizeof *medians), *scratch = calloc(longest, sizeof *scratch);
    bool *odd = calloc(n + 1, sizeof *odd);
    enum mgb_status status = MGB_OK;
    if (!medians || !scratch || !odd)
        status = mgb_fail(MGB_NO_MEMORY, "no memory to look at %zu repetitions", n);
    for (size_t i = 0; status == MGB_OK && i < n; i++)
        medians[i] = median_get(&side->repetitions[i], scratch);
    if (status == MGB_OK)
        found = mgb_repetitions_odd(odd, medians, n);
    double like =
        medians ? medians[0] : 0; /* any of the like ones: distances from it tell the oddest */
    for (size_t i = 0; found > 0 && i < n; i++)
        like = odd[i] ? like : medians[i];
    if (found > 0)
        odd_set(out, medians, odd, n, like);
    out->more = found > 0 ? found - 1 : 0;
    free(medians);
    free(scratch);
    free(odd);
    return status;
}

static enum mgb_status run_take(void *context, const struct mgb_value *v, int count)
{
    (void)count;
    *(int64_t *)context = mgb_value_int(&v[0]);
    return MGB_OK;
}

enum mgb_status mgb_judge_odd_find(struct mgb_judged_odd *out, struct mgb_reader *reader,
                                   const struct mgb_selection *selected,
                                   const struct mgb_side *loaded, bool per_example)
{
    size_t longest, at = 0;
    *out = (struct mgb_judged_odd){0};
    if (!is_judged(loaded, &longest))
        return MGB_OK;
    MGB_TRY(side_look(out, loaded, longest));
    out->ns *= per_example ? 1e-3 : 1;
    out->low_ns *= per_example ? 1e-3 : 1;
    out->high_ns *= per_example ? 1e-3 : 1;
    for (size_t i = 0; out->number > 0 && i < selected->count; i++) {
        struct mgb_value id = mgb_value_of_int(selected->segments[i].segment);
        struct mgb_query_sink sink = {.context = &out->run, .row = run_take};
        if (id.integer && ++at == out->number)
            MGB_TRY(
                mgb_query_run(reader, "SELECT run_id FROM segment WHERE id = ?", &id, 1, &sink));
    }
    return MGB_OK;
}

void mgb_judge_odd(char *out, size_t size, const struct mgb_judgement *judgement,
                   const struct mgb_judged_side *side, const char *name)
{
    const struct mgb_judged_odd *odd = &side->odd;
    char time[40], low[40], high[40], of[80] = "", run[40] = "", more[60] = "", range[90];
    bool whole = !judgement->per_example || (!name && side->global_batch > 0);
    double ms = 1e-6 * (judgement->per_example && whole ? (double)side->global_batch : 1);
    *out = '\0';
    if (odd->number == 0)
        return;
    mgb_format_figure(time, odd->ns * ms);
    mgb_format_figure(low, odd->low_ns * ms);
    mgb_format_figure(high, odd->high_ns * ms);
    if (name)
        snprintf(of, sizeof of, " of %s", name);
    if (odd->run)
        snprintf(run, sizeof run, " (run %lld)", (long long)odd->run);
    if (odd->more)
        snprintf(more, sizeof more, " and %zu more like it", odd->more);
    snprintf(range, sizeof range, strcmp(low, high) ? "%s to %s" : "%s", low, high);
    snprintf(out, size,
             "repetition %zu%s%s%s took %s ms%s, the other%s %s: something else was going on; "
             "repeat it",
             odd->number, of, run, more, time, whole ? "" : " an example",
             odd->like == 1 ? "" : "s", range);
}
