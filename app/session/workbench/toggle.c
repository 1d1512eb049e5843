/* The value that a key gives a placement option. Pure: from facts and what was asked alone. See workbench.h. */
#include "app/session/workbench/workbench.h"

#include <mgb/text.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct toggle {
    char *value, *reason;
    size_t size, reason_size;
    const struct mgb_option *option;
    int direction;
    const struct mgb_facts *facts;
    const struct mgb_placement *asked;
};

static bool toggle_give(const struct toggle *t, const char *text)
{
    snprintf(t->value, t->size, "%s", text);
    return true;
}

static bool toggle_refuse(const struct toggle *t, const char *text)
{
    snprintf(t->reason, t->reason_size, "%s", text);
    return false;
}

/* What is in effect, else what was asked, else the default. */
static const char *now_text(char *out, size_t size, const struct toggle *t)
{
    const struct mgb_facts_option *row = &t->facts->options[t->option->id];
    mgb_placement_get_text(out, size, t->asked, t->option->id);
    if (*out) /* perhaps not in force yet */
        return out;
    return *row->effective ? row->effective : t->option->fallback;
}

static int gpus_most(const struct mgb_facts *facts)
{
    int most = 0;
    for (int i = 0; i < facts->device_count; i++)
        most += strncmp(facts->devices[i].name, "/gpu:", 5) == 0;
    return most;
}

static int gpus_now(const struct toggle *t)
{
    if (t->asked->listed > 0)
        return t->asked->listed;
    return t->asked->given >> MGB_OPTION_GPUS & 1 ? t->asked->gpus : t->facts->gpus;
}

static bool id_is_listed(const int *ids, int count, int id)
{
    for (int i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* The first `count` of those listed, and then those of the lowest numbers. */
static bool list_give(const struct toggle *t, int count)
{
    int ids[MGB_MAX_LISTED_GPUS], known = 0;
    size_t used = 0;
    char text[512];
    for (; known < count && known < t->asked->listed; known++)
        ids[known] = t->asked->ids[known];
    for (int id = 0; known < count && known < MGB_MAX_LISTED_GPUS; id++)
        if (!id_is_listed(ids, known, id))
            ids[known++] = id;
    used += (size_t)snprintf(text, sizeof text, "{");
    for (int i = 0; i < known; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", i ? "," : "", ids[i]);
    snprintf(text + used, sizeof text - used, "}");
    return toggle_give(t, text);
}

/* Powers of two, and as many as there are. */
static bool gpus_next(const struct toggle *t)
{
    char text[96];
    int most = gpus_most(t->facts), now = gpus_now(t), next = 1;
    if (t->direction > 0) {
        while (next <= now && next <= INT_MAX / 2)
            next *= 2;
        next = next > most ? most : next;
    } else {
        while (next * 2 < now)
            next *= 2;
    }
    if (t->direction > 0 && next <= now) {
        snprintf(text, sizeof text, "this machine has %d GPU%s", most, most == 1 ? "" : "s");
        return toggle_refuse(t, text);
    }
    if (t->direction < 0 && next >= now)
        return toggle_refuse(t, "one GPU is the least");
    if (t->asked->listed > 0)
        return list_give(t, next);
    snprintf(text, sizeof text, "%d", next);
    return toggle_give(t, text);
}

static bool number_give(const struct toggle *t, long long now, long long least, const char *what)
{
    char text[96];
    long long next = t->direction > 0 ? now * 2 : now / 2;
    if (t->direction > 0 && now > INT_MAX / 2 && t->option->kind == MGB_KIND_INT)
        return toggle_refuse(t, "no larger number is possible");
    if (next < least) {
        snprintf(text, sizeof text, "%lld %s%s the least", least, what,
                 least == 1 ? " is" : "s are");
        return toggle_refuse(t, text);
    }
    snprintf(text, sizeof text, "%lld", next);
    return toggle_give(t, text);
}

static bool batch_next(const struct toggle *t)
{
    bool whole = t->option->id == MGB_OPTION_GLOBAL_BATCH;
    int asked = whole ? t->asked->global_batch : t->asked->batch;
    bool given = t->asked->given >> t->option->id & 1;
    int now = given ? asked : whole ? t->facts->global_batch : t->facts->batch_per_gpu;
    return number_give(t, now, whole ? gpus_now(t) : 1, "example");
}

static bool int_next(const struct toggle *t)
{
    char text[512];
    if (t->option->id == MGB_OPTION_BATCH || t->option->id == MGB_OPTION_GLOBAL_BATCH)
        return batch_next(t);
    if (t->option->id == MGB_OPTION_HOSTS)
        return toggle_refuse(t, "this version runs on one host");
    return number_give(t, atoi(now_text(text, sizeof text, t)), 1, "thread");
}

static bool bytes_next(const struct toggle *t)
{
    char text[512];
    long long now = atoll(now_text(text, sizeof text, t));
    if (now <= 0)
        return toggle_refuse(t, "no limit is set; set one as gpu_memory=4GiB");
    if (t->direction > 0 && now > LLONG_MAX / 2)
        return toggle_refuse(t, "no larger limit is possible");
    return number_give(t, now, 1, "byte");
}

static bool decimal_next(const struct toggle *t)
{
    char text[512];
    double now = atof(now_text(text, sizeof text, t));
    mgb_format_number(text, sizeof text, t->direction > 0 ? now * 2 : now / 2);
    return toggle_give(t, text);
}

static bool bool_next(const struct toggle *t)
{
    char text[512];
    return toggle_give(t, strcmp(now_text(text, sizeof text, t), "true") == 0 ? "false" : "true");
}

/* From auto to what auto did not choose, then the other one, then back to auto. */
static bool choice_next(const struct toggle *t)
{
    char text[512];
    const char *effective = t->facts->options[t->option->id].effective;
    const char *first = strcmp(effective, "true") == 0 ? "false" : "true";
    const char *second = strcmp(first, "true") == 0 ? "false" : "true";
    mgb_placement_get_text(text, sizeof text, t->asked, t->option->id);
    bool is_auto = !*text || strcmp(text, "auto") == 0;
    if (is_auto)
        return toggle_give(t, t->direction > 0 ? first : second);
    /* What is asked is in effect, so that it is `second` as seen from here unless a change waits. */
    bool back = strcmp(text, "true") == 0 ? t->direction < 0 : t->direction > 0;
    return toggle_give(t, back ? "auto" : strcmp(text, "true") == 0 ? "false" : "true");
}

static bool enum_next(const struct toggle *t)
{
    char text[512];
    const char *now = now_text(text, sizeof text, t);
    int count = 0, at = 0;
    for (; t->option->values[count]; count++)
        if (strcmp(t->option->values[count], now) == 0)
            at = count;
    at = (at + (t->direction > 0 ? 1 : count - 1)) % count;
    return toggle_give(t, t->option->values[at]);
}

/* Where a device option may point to in turn: /cpu:0, the GPUs in use with the merge GPU first, "spread". */
static int places_list(char out[][MGB_DEVICE_NAME_MAX], int most, const struct toggle *t)
{
    int count = 0, gpus = gpus_now(t);
    snprintf(out[count++], MGB_DEVICE_NAME_MAX, "/cpu:0");
    for (int i = 0; i < gpus && count < most - 1; i++)
        snprintf(out[count++], MGB_DEVICE_NAME_MAX, "/gpu:%d",
                 t->asked->listed > 0 ? t->asked->ids[i] : i);
    bool spreads = t->option->id == MGB_OPTION_WEIGHTS_AT || t->option->id == MGB_OPTION_SUM_AT;
    if (spreads && gpus > 1)
        snprintf(out[count++], MGB_DEVICE_NAME_MAX, "spread");
    return count;
}

/* merge_at is in effect as the places that it is short for. */
static const char *place_now(char *out, size_t size, const struct toggle *t)
{
    mgb_placement_get_text(out, size, t->asked, t->option->id);
    if (*out)
        return out;
    const struct mgb_facts_option *rows = t->facts->options;
    if (t->option->id == MGB_OPTION_WEIGHTS_AT && t->asked->given >> MGB_OPTION_CPU_RELOCATION & 1)
        return t->asked->cpu_relocation ? "/cpu:0" : "/gpu:0";
    if (t->option->id != MGB_OPTION_MERGE_AT)
        return rows[t->option->id].effective;
    if (t->asked->given >> MGB_OPTION_CPU_MERGE & 1)
        return t->asked->cpu_merge ? "/cpu:0" : "/gpu:0";
    return *rows[MGB_OPTION_JOIN_AT].effective ? rows[MGB_OPTION_JOIN_AT].effective
                                               : rows[MGB_OPTION_SUM_AT].effective;
}

/* Forwards between the CPU and the first GPU; backwards through all there are. */
static bool device_next(const struct toggle *t)
{
    char places[MGB_MAX_LISTED_GPUS + 2][MGB_DEVICE_NAME_MAX], text[512];
    int count = places_list(places, MGB_MAX_LISTED_GPUS + 2, t), at = 0;
    if (count < 2)
        return toggle_refuse(t, "there is only /cpu:0");
    const char *now = place_now(text, sizeof text, t);
    if (t->direction > 0)
        return toggle_give(t, strcmp(now, "/cpu:0") == 0 ? places[1] : "/cpu:0");
    for (int i = 0; i < count; i++)
        if (strcmp(places[i], now) == 0)
            at = i;
    return toggle_give(t, places[(at + count - 1) % count]);
}

/* Under the strategy that is asked for, which may wait to be in force. */
static bool option_is_parked(const struct toggle *t)
{
    bool given = t->asked->given >> MGB_OPTION_STRATEGY & 1;
    enum mgb_strategy strategy = given ? t->asked->strategy : t->facts->strategy;
    if (t->option->strategies >> strategy & 1)
        return false;
    char text[96];
    snprintf(text, sizeof text, "n/a under %s",
             mgb_placement_options()[MGB_OPTION_STRATEGY].values[strategy]);
    toggle_refuse(t, text);
    return true;
}

bool mgb_toggle_next(char *value, size_t size, char *reason, size_t reason_size,
                     enum mgb_option_id option, int direction, const struct mgb_facts *facts,
                     const struct mgb_placement *asked)
{
    struct toggle t = {.value = value,
                       .reason = reason,
                       .size = size,
                       .reason_size = reason_size,
                       .option = &mgb_placement_options()[option],
                       .direction = direction < 0 ? -1 : 1,
                       .facts = facts,
                       .asked = asked};
    if (size)
        value[0] = '\0';
    if (reason_size)
        reason[0] = '\0';
    if (option_is_parked(&t))
        return false;
    switch (t.option->kind) {
    case MGB_KIND_BOOL:
        return bool_next(&t);
    case MGB_KIND_CHOICE:
        return choice_next(&t);
    case MGB_KIND_INT:
        return int_next(&t);
    case MGB_KIND_NUMBER:
        return decimal_next(&t);
    case MGB_KIND_BYTES:
        return bytes_next(&t);
    case MGB_KIND_ENUM:
        return enum_next(&t);
    case MGB_KIND_DEVICE:
        return device_next(&t);
    case MGB_KIND_GPUS:
        return gpus_next(&t);
    }
    return false;
}

enum mgb_option_id mgb_toggle_twin(enum mgb_option_id option)
{
    static const enum mgb_option_id twins[][2] = {
        {MGB_OPTION_WEIGHTS_AT, MGB_OPTION_CPU_RELOCATION},
        {MGB_OPTION_MERGE_AT, MGB_OPTION_CPU_MERGE}};
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++)
        for (int side = 0; side < 2; side++)
            if (twins[i][side] == option)
                return twins[i][1 - side];
    return MGB_OPTION_COUNT;
}
