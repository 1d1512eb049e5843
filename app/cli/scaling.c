/* mgbench scaling: what more GPUs are worth, in each of the words that people mean by it, their definitions beside them. */
#include "app/cli/asking.h"
#include "app/cli/commands.h"
#include "app/cli/scaling_figures.h"
#include "app/script/terminal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct mgb_example examples[] = {
    {"mgbench scaling mlp", "of the newest run of every placement, GPU count and batch of a model"},
    {"mgbench scaling sweep:placement", "of the points of a sweep, their repetitions together"},
    {"mgbench scaling sweep:placement --csv", "all figures in one table, for a program"},
    {NULL, NULL}};

/* Points of one group with other threads than others: then the tables show them. */
static bool threads_vary(const struct mgb_scaled_list *list, const char *group)
{
    int64_t first = -1;
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->at[i].group, group) != 0)
            continue;
        if (first >= 0 && list->at[i].threads != first)
            return true;
        first = list->at[i].threads;
    }
    return false;
}

static void point_add(struct mgb_table *table, const struct mgb_scaled *p, bool with_threads)
{
    char batch[48];
    mgb_table_add_text(table, p->label);
    if (with_threads)
        mgb_table_add_integer(table, p->threads);
    mgb_table_add_integer(table, p->point.gpus);
    if (p->point.global_batch % p->point.gpus == 0)
        snprintf(batch, sizeof batch, "%lldx%lld", (long long)p->point.gpus,
                 (long long)(p->point.global_batch / p->point.gpus));
    else
        snprintf(batch, sizeof batch, "%lld", (long long)p->point.global_batch);
    mgb_table_add_figure(table, batch);
    mgb_scaled_add_ms(table, p);
}

/* A table of the points of one group; `add` gives the cells behind the first four, or refuses the point. */
struct view {
    int columns; /* without threads, which come second where they vary */
    const char *const *names;
    bool (*wants)(const struct mgb_scaled *p, const struct mgb_scaled_figures *f);
    void (*add)(struct mgb_table *table, const struct mgb_scaled *p,
                const struct mgb_scaled_figures *f);
};

static bool every_point(const struct mgb_scaled *p, const struct mgb_scaled_figures *f)
{
    (void)p, (void)f;
    return true;
}

/* The one-GPU point had other threads, so that the figure is one of threads as well as of GPUs. */
static bool other_threads(const struct mgb_scaled *p, const struct mgb_scaled *base)
{
    return base && p->point.gpus > 1 && base->threads != p->threads;
}

static bool too_good(struct mgb_maybe_real efficiency)
{
    return efficiency.known && efficiency.value > 1.05;
}

static void efficiency_add(struct mgb_table *table, const struct mgb_scaled *p,
                           const struct mgb_scaled_figures *f)
{
    const char *const remarks[] = {
        p->oom ? "out of memory" : NULL,
        p->not_steady ? "not steady" : NULL,
        mgb_cli_wrong_text(p->wrong),
        p->oversubscribed ? "oversubscribed" : NULL,
        other_threads(p, f->weak_base) || other_threads(p, f->strong_base)
            ? "other threads than its 1 GPU"
            : NULL,
        too_good(f->weak) || too_good(f->strong) ? "more than ideal" : NULL};
    char remark[192] = "";
    mgb_table_add_number(table, p->examples_per_s > 0 ? p->examples_per_s : (double)NAN);
    mgb_scaled_add_ms(table, f->weak_base);
    mgb_scaled_add_real(table, f->weak);
    mgb_scaled_add_ms(table, f->strong_base);
    mgb_scaled_add_real(table, f->strong);
    mgb_scaled_add_real(table, f->epoch);
    for (size_t i = 0, used = 0; i < sizeof remarks / sizeof *remarks; i++)
        if (remarks[i])
            used += (size_t)snprintf(remark + used, sizeof remark - used, "%s%s", used ? ", " : "",
                                     remarks[i]);
    mgb_table_add_text(table, *remark ? remark : NULL);
}

static bool has_split(const struct mgb_scaled *p, const struct mgb_scaled_figures *f)
{
    return p->point.gpus > 1 && f->split.speedup.known;
}

static void split_add(struct mgb_table *table, const struct mgb_scaled *p,
                      const struct mgb_scaled_figures *f)
{
    char text[48];
    const struct mgb_scaled *from = f->weak_base ? f->weak_base : f->strong_base;
    (void)p;
    snprintf(text, sizeof text, "1x%lld", (long long)from->point.global_batch);
    mgb_table_add_figure(table, text);
    mgb_scaled_add_ms(table, from);
    mgb_scaled_add_real(table, f->split.speedup);
    mgb_scaled_add_real(table, f->split.batch_effect);
    mgb_scaled_add_real(table, f->split.gpu_effect);
    if (f->corner && f->split.batch_effect.known)
        snprintf(text, sizeof text, "%lld GPU%s, %lld in all", (long long)f->corner->point.gpus,
                 f->corner->point.gpus == 1 ? "" : "s", (long long)f->corner->point.global_batch);
    mgb_table_add_text(table, f->split.batch_effect.known ? text : NULL);
}

static bool has_exchange(const struct mgb_scaled *p, const struct mgb_scaled_figures *f)
{
    (void)p;
    return f->exchange.cost_ns.known;
}

static void exchange_add(struct mgb_table *table, const struct mgb_scaled *p,
                         const struct mgb_scaled_figures *f)
{
    const struct mgb_scaling_exchange *e = &f->exchange;
    (void)p;
    mgb_scaled_add_ms(table, f->independent);
    if (!f->exchange_told) {
        mgb_table_add_figure(table, "below noise");
        mgb_table_add_empty(table);
        return;
    }
    mgb_table_add_number(table, e->cost_ns.value / 1e6);
    mgb_table_add_number(table, 100 * e->share.value);
}

/* ---- what must be known beside the figures ---- */

static void threads_note(const struct mgb_scaled_list *list, const char *group)
{
    for (int i = 0; i < list->count; i++) {
        const struct mgb_scaled *p = &list->at[i];
        struct mgb_scaled_figures f = mgb_scaled_figures_of(list, p);
        const struct mgb_scaled *base = other_threads(p, f.weak_base) ? f.weak_base : f.strong_base;
        if (strcmp(p->group, group) != 0 || !other_threads(p, base))
            continue;
        printf("note: the one-GPU baseline ran %lld thread%s a device, these %lld: give threads = "
               "%lld to all\n",
               (long long)base->threads, base->threads == 1 ? "" : "s", (long long)p->threads,
               (long long)(base->threads < p->threads ? base->threads : p->threads));
        return;
    }
}

static void ideal_note(const struct mgb_scaled_list *list, const char *group)
{
    for (int i = 0; i < list->count; i++) {
        struct mgb_scaled_figures f = mgb_scaled_figures_of(list, &list->at[i]);
        if (strcmp(list->at[i].group, group) != 0 || (!too_good(f.weak) && !too_good(f.strong)))
            continue;
        puts("note: efficiency above 1.05 is more than ideal: look for other threads a device, a "
             "baseline measured at another\n  time, or data that fits the caches only when split");
        return;
    }
}

static enum mgb_status view_print(const struct view *view, const struct mgb_scaled_list *list,
                                  const char *group, const char *title, const char *otherwise)
{
    struct mgb_table *table;
    bool with_threads = threads_vary(list, group);
    const char *names[16] = {view->names[0], "threads"};
    int rows = 0;
    for (int i = 1; i < view->columns; i++)
        names[i + with_threads] = view->names[i];
    MGB_TRY(mgb_table_make(&table, view->columns + with_threads, names));
    for (int i = 0; i < list->count; i++) {
        const struct mgb_scaled *p = &list->at[i];
        struct mgb_scaled_figures f = mgb_scaled_figures_of(list, p);
        if (strcmp(p->group, group) != 0 || !view->wants(p, &f))
            continue;
        point_add(table, p, with_threads);
        view->add(table, p, &f);
        rows++;
    }
    enum mgb_status status = MGB_OK;
    if (rows > 0) {
        mgb_say(stdout, "%s\n", title);
        status = mgb_table_print(table, MGB_TABLE_TEXT, stdout);
    } else
        mgb_say(stdout, "%s\n", otherwise);
    mgb_table_free(table);
    return status;
}

/* ", optimizer sgd(lr=0.01)": of a group what not all groups of the list have in common. */
static void kinds_print(const struct mgb_scaled_list *list, const struct mgb_scaled *one)
{
    static const char *const names[MGB_SCALED_KINDS] = {"options", "data", "optimizer", "precision",
                                                        "recompute"};
    for (int k = 0; k < MGB_SCALED_KINDS; k++) {
        bool varies = false;
        for (int i = 0; i < list->count; i++)
            varies = varies || strcmp(list->at[i].kind[k], one->kind[k]) != 0;
        if (varies)
            mgb_say(stdout, ", %s %s", names[k], *one->kind[k] ? one->kind[k] : "none");
    }
}

static enum mgb_status group_print(const struct mgb_scaled_list *list, const struct mgb_scaled *one)
{
    static const char *const names[] = {"placement",  "gpus",     "batch", "step_ms",
                                        "examples/s", "1 GPU ms", "weak",  "1 GPU ms",
                                        "strong",     "epoch",    "remark"};
    static const char *const split_names[] = {
        "placement", "gpus",     "batch",        "step_ms",    "from",
        "its ms",    "speed-up", "batch effect", "GPU effect", "corner measured"};
    static const char *const exchange_names[] = {
        "placement", "gpus", "batch", "step_ms", "independent ms", "exchange ms", "% of step"};
    static const struct view efficiency = {11, names, every_point, efficiency_add};
    static const struct view split = {10, split_names, has_split, split_add};
    static const struct view exchange = {7, exchange_names, has_exchange, exchange_add};
    mgb_say(stdout, "%s on %s, backend %s%s", one->model, one->machine, one->backend,
            one->simulated                      ? ": simulated"
            : strcmp(one->backend, "host") == 0 ? ": /gpu:N are CPU devices"
                                                : "");
    kinds_print(list, one);
    puts("\n\nstep_ms: mean of the repetitions' medians; examples/s: examples a step / step_ms");
    if (threads_vary(list, one->group))
        puts("threads: CPU threads a device");
    threads_note(list, one->group);
    ideal_note(list, one->group);
    putchar('\n');
    MGB_TRY(view_print(&efficiency, list, one->group,
                       "efficiency, 1 is ideal; \"1 GPU ms\" is what it is against\n"
                       "  " MGB_SCALING_WEAK_TEXT "\n  " MGB_SCALING_STRONG_TEXT
                       "\n  " MGB_SCALING_EPOCH_TEXT,
                       ""));
    putchar('\n');
    MGB_TRY(
        view_print(&split, list, one->group, MGB_SCALING_SPLIT_TEXT,
                   "speed-up: no placement of several GPUs was measured with one GPU beside it"));
    putchar('\n');
    return view_print(
        &exchange, list, one->group, MGB_SCALING_EXCHANGE_TEXT,
        MGB_SCALING_EXCHANGE_TEXT
        ":\n  not known, no run had --strategy independent and the same GPUs and batch");
}

static enum mgb_status groups_print(const struct mgb_scaled_list *list)
{
    const char *group = "";
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->at[i].group, group) == 0)
            continue;
        if (i > 0)
            putchar('\n');
        group = list->at[i].group;
        MGB_TRY(group_print(list, &list->at[i]));
    }
    return MGB_OK;
}

static enum mgb_status scaling_ask(const struct mgb_invocation *in, struct mgb_reader *reader,
                                   int *code)
{
    static const char sweep[] = "sweep:", tag[] = "tag:";
    struct mgb_scaled_list list;
    struct mgb_selection chosen = {0};
    const char *word = in->words[0];
    bool named =
        strncmp(word, sweep, sizeof sweep - 1) == 0 || strncmp(word, tag, sizeof tag - 1) == 0;
    (void)code;
    if (named)
        MGB_TRY(mgb_select(&chosen, reader, word));
    enum mgb_status status =
        mgb_scaled_load(&list, reader, named ? NULL : word, named ? &chosen : NULL);
    mgb_selection_done(&chosen);
    MGB_TRY(status);
    if (list.count == 0)
        return mgb_fail(MGB_MISSING,
                        "scaling: no finished run on GPUs %s %s; mgbench runs lists what there is",
                        named ? "among" : "of the model", word);
    status = in->format == MGB_TABLE_TEXT ? groups_print(&list) : mgb_scaled_rows_print(in, &list);
    mgb_scaled_free(&list);
    char remark[400] = "";
    if (status == MGB_OK && named && in->format == MGB_TABLE_TEXT)
        status = mgb_select_remark(remark, sizeof remark, reader, word);
    if (*remark)
        mgb_say(stdout, "\nnote: %s\n", remark);
    return status;
}

static int scaling_run(struct mgb_invocation *in)
{
    return mgb_cli_ask(in, scaling_ask);
}

const struct mgb_command mgb_command_scaling = {
    .name = "scaling",
    .usage = "MODEL | sweep:NAME | tag:NAME",
    .summary = "what more GPUs are worth: weak and strong, per step and per epoch",
    .help =
        "Efficiency is against one GPU: of the same placement where that was measured, else of "
        "another one of\n"
        "the same model, data, machine, backend and precision. The speed-up is split into what the "
        "larger batch\n"
        "alone does and what the GPUs alone do, where the corner between was measured (one GPU "
        "with the whole\n"
        "batch). The cost of merging is the step less that of the same GPUs and batch under "
        "--strategy independent.\n",
    .examples = examples,
    .least_words = 1,
    .most_words = 1,
    .run = scaling_run,
};
