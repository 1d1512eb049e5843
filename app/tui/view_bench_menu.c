/* Menus of the placement options: all of them with what their next value is and what is known of it. */
#include "app/tui/bench.h"

#include "app/tui/words.h"

#include <math.h>
#include <mgb/placement.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "name=value", and what says the same in other words is taken back: both would contradict each other. A value that does
 * not fit becomes one that is refused, rather than another one. */
static void pair_write(char *out, size_t size, const struct mgb_option *option, const char *value,
                       bool clears)
{
    enum mgb_option_id twin = mgb_toggle_twin(option->id);
    int length;
    if (clears && twin < MGB_OPTION_COUNT)
        length = snprintf(out, size, "%s=%s %s=nil", option->name, value,
                          mgb_placement_options()[twin].name);
    else
        length = snprintf(out, size, "%s=%s", option->name, value);
    if (length < 0 || (size_t)length >= size)
        snprintf(out, size, "%s=(too long)", option->name);
}

static bool is_given(const struct mgb_facts *facts, enum mgb_option_id option)
{
    return option < MGB_OPTION_COUNT && facts->asked.given >> option & 1;
}

/* The placement's option that a value is being typed for: the context of the question. */
static void value_typed(void *context, struct tui_desk *desk, const char *text)
{
    const struct mgb_option *option = context;
    char pair[300];
    if (!text || !*text)
        return;
    pair_write(pair, sizeof pair, option, text, true);
    desk->ask(desk, &(struct mgb_wish){.kind = MGB_WISH_SET, .text = pair});
}

static void values_offer(struct tui_desk *desk, const struct mgb_option *option, int gpus,
                         const char *asked);

/* What was chosen: "name=value"; "?name" for a value to be typed, with the one asked for after a blank; "#3 name" for all
 * values to be shown, with the number of GPUs. */
static void option_chosen(void *context, struct tui_desk *desk, const char *text)
{
    char name[64], question[160];
    int gpus = 0;
    (void)context;
    if (!text || !*text)
        return;
    bool lists = *text == '#';
    if (*text != '?' && !lists) {
        desk->ask(desk, &(struct mgb_wish){.kind = MGB_WISH_SET, .text = text});
        return;
    }
    if (lists) {
        gpus = atoi(text + 1);
        text += strcspn(text, " ");
    }
    size_t length = strcspn(text + 1, " ");
    snprintf(name, sizeof name, "%.*s", (int)length, text + 1);
    const struct mgb_option *option = mgb_placement_find_option(name);
    if (!option)
        return;
    if (lists) {
        values_offer(desk, option, gpus, text[1 + length] ? text + 2 + length : "");
        return;
    }
    snprintf(question, sizeof question, "%s (%s): ", option->name,
             option->kind == MGB_KIND_DEVICE  ? "/cpu:0, /gpu:N, spread; nil: as it comes"
             : option->kind == MGB_KIND_GPUS  ? "a count, or ids as 2,0,3"
             : option->kind == MGB_KIND_BYTES ? "as 4GiB; nil: no limit"
                                              : "a value; nil: as it comes");
    desk->prompt(desk, question, text[1 + length] ? text + 2 + length : "", value_typed,
                 (void *)option);
}

static bool is_typed(enum mgb_option_kind kind)
{
    return kind == MGB_KIND_INT || kind == MGB_KIND_NUMBER || kind == MGB_KIND_BYTES ||
           kind == MGB_KIND_GPUS;
}

enum { VALUES_MOST = MGB_MAX_LISTED_GPUS + 16 };

struct values { /* of one option: a menu being filled */
    const struct mgb_option *option;
    const char *asked;
    struct tui_choice *at;
    int count, chosen;
};

static void value_add(struct values *v, const char *value, const char *note)
{
    if (v->count == VALUES_MOST)
        return;
    struct tui_choice *choice = &v->at[v->count];
    bool is_nil = strcmp(value, "nil") == 0;
    bool asked = is_nil ? !*v->asked : strcmp(value, v->asked) == 0;
    snprintf(choice->label, sizeof choice->label, "%s", is_nil ? "as it comes" : value);
    snprintf(choice->note, sizeof choice->note, "%s%s", note, asked ? "asked for now" : "");
    pair_write(choice->value, sizeof choice->value, v->option, value, !is_nil);
    if (asked)
        v->chosen = v->count;
    v->count++;
}

static void devices_add(struct values *v, int gpus)
{
    char name[32];
    value_add(v, "/cpu:0", "");
    for (int i = 0; i < gpus; i++) {
        snprintf(name, sizeof name, "/gpu:%d", i);
        value_add(v, name, "");
    }
    if (strstr(v->option->help, "spread"))
        value_add(v, "spread", "");
}

/* All that it can be set to, whatever a toggle would give it. */
static void values_offer(struct tui_desk *desk, const struct mgb_option *option, int gpus,
                         const char *asked)
{
    char title[80];
    struct values v = {.option = option, .asked = asked};
    v.at = calloc(VALUES_MOST + 1, sizeof *v.at);
    if (!v.at) {
        desk->say(desk, MGB_LINE_WARNING, "no memory for a menu");
        return;
    }
    if (option->kind == MGB_KIND_DEVICE)
        devices_add(&v, gpus);
    if (option->kind == MGB_KIND_CHOICE)
        value_add(&v, "auto", "");
    if (option->kind == MGB_KIND_CHOICE || option->kind == MGB_KIND_BOOL) {
        value_add(&v, "true", "");
        value_add(&v, "false", "");
    }
    for (int i = 0; option->kind == MGB_KIND_ENUM && option->values[i]; i++)
        value_add(&v, option->values[i], "");
    value_add(&v, "nil", "");
    if (option->kind == MGB_KIND_DEVICE) {
        strcpy(v.at[v.count].label, "type a value...");
        snprintf(v.at[v.count++].value, sizeof v.at->value, "?%s %s", option->name, asked);
    }
    snprintf(title, sizeof title, "%s  Enter sets it", option->name);
    desk->menu(desk, title, v.at, v.count, v.chosen, option_chosen, NULL);
    free(v.at);
}

/* What is still to be found out is what a toggle does, not what it sets: right after a change it can be chosen too. */
static struct mgb_pressed_row row_complete(const struct mgb_pressed_row *from,
                                           const struct mgb_facts *facts)
{
    struct mgb_pressed_row row = *from;
    if (row.from != MGB_PRESSED_NONE)
        return row;
    tui_bench_value(row.now, sizeof row.now, facts, row.option);
    if (mgb_toggle_next(row.value, sizeof row.value, row.reason, sizeof row.reason, row.option,
                        row.direction, facts, &facts->asked))
        snprintf(row.next, sizeof row.next, "%.63s", tui_device_words(row.value));
    else
        row.from = MGB_PRESSED_REFUSED;
    return row;
}

static void choice_toggle(struct tui_choice *out, const struct mgb_facts *facts,
                          const struct mgb_pressed_row *pressed)
{
    const struct mgb_option *option = &mgb_placement_options()[pressed->option];
    const struct mgb_pressed_row complete = row_complete(pressed, facts), *row = &complete;
    char known[320];
    bool refused = row->from == MGB_PRESSED_REFUSED || row->from == MGB_PRESSED_PARKED;
    if (*row->next)
        snprintf(out->label, sizeof out->label, "%-14s %.20s -> %.20s", option->name,
                 *row->now ? row->now : "n/a", row->next);
    else
        snprintf(out->label, sizeof out->label, "%-14s %.20s", option->name,
                 *row->now ? row->now : "n/a");
    snprintf(out->note, sizeof out->note, "%.239s", tui_bench_known(known, sizeof known, row));
    pair_write(out->value, sizeof out->value, option, row->value,
               is_given(facts, mgb_toggle_twin(row->option)));
    out->disabled = refused || !*row->value;
}

static void choice_type(struct tui_choice *out, const struct mgb_facts *facts,
                        const struct mgb_option *option)
{
    const char *asked = facts->options[option->id].asked;
    int gpus = 0;
    snprintf(out->note, sizeof out->note, "%.239s", option->help);
    if (is_typed(option->kind)) {
        snprintf(out->label, sizeof out->label, "%-14s type a value...", option->name);
        snprintf(out->value, sizeof out->value, "?%s %s", option->name, asked);
        return;
    }
    for (int i = 0; i < facts->device_count; i++)
        gpus += strncmp(facts->devices[i].name, "/gpu:", 5) == 0;
    snprintf(out->label, sizeof out->label, "%-14s all values...", option->name);
    snprintf(out->value, sizeof out->value, "#%d %s %s", gpus, option->name, asked);
}

static struct tui_choice *choices_make(const struct tui_scene *scene, struct tui_desk *desk,
                                       const char **why)
{
    struct tui_choice *choices = NULL;
    *why = scene->snapshot->facts ? NULL : "no model yet: M chooses one";
    if (!*why) {
        choices = calloc(MGB_PRESSED_MOST + MGB_OPTION_COUNT, sizeof *choices);
        *why = choices ? NULL : "no memory for a menu";
    }
    if (*why)
        desk->say(desk, MGB_LINE_WARNING, *why);
    return choices;
}

/* In the order of the option table: what its key does, and a line for the other values it may have. */
void tui_bench_options(const struct tui_scene *scene, struct tui_desk *desk)
{
    const struct mgb_snapshot *s = scene->snapshot;
    const char *why;
    struct tui_choice *choices = choices_make(scene, desk, &why);
    int count = 0;
    for (int id = 0; choices && id < MGB_OPTION_COUNT; id++) {
        const struct mgb_option *option = &mgb_placement_options()[id];
        for (int i = 0; s->pressed && i < s->pressed->count; i++)
            if (s->pressed->rows[i].option == option->id)
                choice_toggle(&choices[count++], s->facts, &s->pressed->rows[i]);
        choice_type(&choices[count++], s->facts, option);
    }
    if (choices)
        desk->menu(desk, "OPTIONS  Enter sets it", choices, count, 0, option_chosen, NULL);
    free(choices);
}

/* Those with times first, the fastest on top; then what the plan says, then what cannot be. */
static int rows_compare(const void *a, const void *b)
{
    static const int ranks[] = {
        [MGB_PRESSED_MEASURED] = 0, [MGB_PRESSED_PREDICTED] = 0, [MGB_PRESSED_PLANNED] = 1,
        [MGB_PRESSED_NONE] = 2,     [MGB_PRESSED_SAME] = 3,      [MGB_PRESSED_OOM] = 4,
        [MGB_PRESSED_REFUSED] = 5,  [MGB_PRESSED_PARKED] = 6};
    const struct mgb_pressed_row *x = *(const struct mgb_pressed_row *const *)a;
    const struct mgb_pressed_row *y = *(const struct mgb_pressed_row *const *)b;
    if (ranks[x->from] != ranks[y->from])
        return ranks[x->from] - ranks[y->from];
    if (!isnan(x->ratio) && !isnan(y->ratio) && x->ratio != y->ratio)
        return x->ratio < y->ratio ? -1 : 1;
    if (isnan(x->ratio) != isnan(y->ratio))
        return isnan(x->ratio) ? 1 : -1;
    if (x->traffic_change != y->traffic_change)
        return x->traffic_change < y->traffic_change ? -1 : 1;
    return x < y ? -1 : x > y;
}

void tui_bench_what_if(const struct tui_scene *scene, struct tui_desk *desk)
{
    const struct mgb_pressed *pressed = scene->snapshot->pressed;
    const struct mgb_pressed_row *rows[MGB_PRESSED_MOST];
    const char *why;
    if (scene->snapshot->facts && (!pressed || pressed->count == 0)) {
        desk->say(desk, MGB_LINE_WARNING, "nothing is found out yet");
        return;
    }
    struct tui_choice *choices = choices_make(scene, desk, &why);
    if (!choices)
        return;
    int count = pressed ? pressed->count : 0;
    for (int i = 0; i < count; i++)
        rows[i] = &pressed->rows[i];
    qsort(rows, (size_t)count, sizeof *rows, rows_compare);
    for (int i = 0; i < count; i++)
        choice_toggle(&choices[i], scene->snapshot->facts, rows[i]);
    desk->menu(desk,
               pressed->complete ? "WHAT IF  * measured, time an example; else the plan's bytes"
                                 : "WHAT IF  * measured, else the plan's bytes; still finding out",
               choices, count, 0, option_chosen, NULL);
    free(choices);
}
