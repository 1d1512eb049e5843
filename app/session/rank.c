/* See rank.h. */
#include "app/session/rank.h"

#include "app/script/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

enum mgb_status mgb_rank_fastest(size_t *out, struct mgb_reader *reader,
                                 const struct mgb_selection *points, size_t count,
                                 const struct mgb_judge_options *options)
{
    struct mgb_judge_options by_example = *options;
    double least = 0;
    bool good = false; /* the best so far may be judged */
    by_example.per_example = true;
    *out = count;
    for (size_t i = 0; i < count; i++) {
        struct mgb_judgement alone;
        MGB_TRY(mgb_judge(&alone, reader, &points[i], &points[i], &by_example));
        double ns = alone.comparison.b.ns;
        bool judged = !*alone.refusal;
        if (!(ns > 0) || (good && !judged))
            continue;
        if (*out == count || (judged && !good) || ns < least) {
            *out = i;
            least = ns;
            good = judged;
        }
    }
    return MGB_OK;
}

static char *number(char out[40], double value)
{
    return mgb_format_figure(out, value);
}

/* By how much `slow` is behind, in percent of the fast one: of the ratio slow / fast. */
static void lead_print(FILE *out, double ratio, double low, double high)
{
    char text[3][40];
    fprintf(out, " by %s %% [%s, %s], more than noise", number(text[0], 100 * (ratio - 1)),
            number(text[1], 100 * (low - 1)), number(text[2], 100 * (high - 1)));
}

static void fastest_print(FILE *out, const char *words, const struct mgb_location *at,
                          bool per_example)
{
    char ms[40];
    fprintf(out, "Fastest: %s, %s %s", words, number(ms, at->ns / 1e6),
            per_example ? "ms an example" : "ms");
}

/* Others that are not slower than A for sure. */
static void unseparated_print(FILE *out, const struct mgb_judgement *judged,
                              const char *const *words, size_t count)
{
    size_t told = 0, left = 0;
    for (size_t i = 0; i < count; i++) {
        if (judged[i].comparison.verdict == MGB_VERDICT_SLOWER || !(judged[i].comparison.b.ns > 0))
            continue;
        if (told < 6)
            fprintf(out, "%s%s", told++ ? "; " : "; not told apart from: ", words[i]);
        else
            left++;
    }
    if (left > 0)
        fprintf(out, "; and %zu more", left);
}

/* The one with the smallest ratio among those with `verdict`; count: none. */
static size_t nearest_find(const struct mgb_judgement *judged, size_t count,
                           enum mgb_verdict verdict)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++)
        if (judged[i].comparison.verdict == verdict &&
            (best == count || judged[i].comparison.ratio < judged[best].comparison.ratio))
            best = i;
    return best;
}

static bool all_slower(const struct mgb_judgement *judged, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (judged[i].comparison.verdict != MGB_VERDICT_SLOWER && judged[i].comparison.b.ns > 0)
            return false;
    return true;
}

void mgb_rank_sentence(char *out, size_t size, const struct mgb_judgement *judged,
                       const char *const *words, size_t count, const char *a)
{
    FILE *text = count > 0 ? fmemopen(out, size, "w") : NULL;
    *out = '\0';
    if (!text)
        return;
    size_t faster = nearest_find(judged, count, MGB_VERDICT_FASTER);
    size_t next = nearest_find(judged, count, MGB_VERDICT_SLOWER);
    if (faster < count) {
        const struct mgb_comparison *c = &judged[faster].comparison;
        fastest_print(text, words[faster], &c->b, judged[faster].per_example);
        fprintf(text, "; ahead of %s", a);
        lead_print(text, 1 / c->ratio, 1 / c->high, 1 / c->low);
    } else if (judged[0].comparison.a.ns > 0) {
        fastest_print(text, a, &judged[0].comparison.a, judged[0].per_example);
        if (next < count && all_slower(judged, count)) {
            const struct mgb_comparison *c = &judged[next].comparison;
            fprintf(text, "; ahead of %s", words[next]);
            lead_print(text, c->ratio, c->low, c->high);
        } else
            unseparated_print(text, judged, words, count);
    }
    fclose(text);
    out[size - 1] = '\0';
}

/* How many of the others ran, how many of these are not slower for sure, and how many have no verdict at all. */
struct others {
    size_t ran, alike, refused;
};

static struct others others_count(const struct mgb_judgement *judged, size_t count)
{
    struct others out = {0};
    for (size_t i = 0; i < count; i++) {
        const struct mgb_comparison *c = &judged[i].comparison;
        if (!(c->b.ns > 0))
            continue;
        out.ran++;
        out.alike += c->verdict != MGB_VERDICT_SLOWER;
        out.refused += c->verdict == MGB_VERDICT_REFUSED;
    }
    return out;
}

/* What matters stands first, for it is cut off where there is no room. */
static void headline_write(char *out, size_t size, const struct others *others, bool beaten,
                           const char *words, const struct mgb_location *at, bool per_example)
{
    char ms[40];
    size_t used;
    const char *s = others->ran == 1 ? "" : "s";
    if (others->ran > 0 && others->refused == others->ran) {
        snprintf(out, size, "Fastest: none: %zu of %zu refused", others->refused, others->ran);
        return;
    }
    if (beaten)
        used = (size_t)snprintf(out, size, "Fastest, by more than noise");
    else if (others->alike == 0)
        used = (size_t)snprintf(out, size, "Fastest, ahead of %s%zu other%s",
                                others->ran == 1 ? "" : "all ", others->ran, s);
    else
        used = (size_t)snprintf(out, size, "Fastest, not told apart from %zu other%s",
                                others->alike, others->alike == 1 ? "" : "s");
    if (used < size)
        snprintf(out + used, size - used, ": %s, %s %s", words, number(ms, at->ns / 1e6),
                 per_example ? "ms an example" : "ms");
}

/* Of the points without `fastest`, each judged against it. */
static void ranking_write(struct mgb_ranking *out, const struct mgb_judgement *judged,
                          const char *const *others, size_t count, const char *const *words)
{
    struct others found = others_count(judged, count);
    size_t faster = nearest_find(judged, count, MGB_VERDICT_FASTER), a = out->fastest;
    bool beaten = faster < count;
    const struct mgb_comparison *c = &judged[beaten ? faster : 0].comparison;
    mgb_rank_sentence(out->text, sizeof out->text, judged, others, count, words[a]);
    headline_write(out->headline, sizeof out->headline, &found, beaten,
                   beaten ? others[faster] : words[a], beaten ? &c->b : &c->a,
                   judged[0].per_example);
    if (beaten)
        out->fastest = faster + (faster >= a);
    else if (found.ran > 0 && found.refused == found.ran)
        out->fastest = count + 1;
}

enum mgb_status mgb_rank_points(struct mgb_ranking *out, struct mgb_reader *reader,
                                const struct mgb_selection *points, const char *const *words,
                                size_t count, const struct mgb_judge_options *options)
{
    size_t n = 0;
    *out = (struct mgb_ranking){.fastest = count};
    MGB_TRY(mgb_rank_fastest(&out->fastest, reader, points, count, options));
    if (out->fastest == count || count < 2)
        return MGB_OK;
    struct mgb_selection *a = calloc(count, sizeof *a), *b = calloc(count, sizeof *b);
    struct mgb_judgement *judged = calloc(count, sizeof *judged);
    const char **others = calloc(count, sizeof *others);
    enum mgb_status status = MGB_OK;
    if (!a || !b || !judged || !others)
        status = mgb_fail(MGB_NO_MEMORY, "no memory to compare %zu configurations", count);
    for (size_t i = 0; status == MGB_OK && i < count; i++) {
        if (i == out->fastest)
            continue;
        a[n] = points[out->fastest];
        b[n] = points[i];
        others[n++] = words[i];
    }
    if (status == MGB_OK)
        status = mgb_judge_cells(judged, reader, a, b, n, options);
    if (status == MGB_OK)
        ranking_write(out, judged, others, n, words);
    free(a);
    free(b);
    free(judged);
    free(others);
    return status;
}
