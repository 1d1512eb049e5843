/* Placement options from text and back: what scripts, flags and the terminal program all go
 * through. */
#include "engine/plan/placement.h"
#include <mgb/text.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* GPUs of a simulated machine. */
#define COUNT_MOST 1000000

static enum mgb_status value_fail(const struct mgb_option *option, const char *value,
                                  const char *possible)
{
    int length = (int)strlen(value), digits = (int)strspn(value, "-0123456789");
    if (value[digits] == '.' &&
        (int)strspn(value + digits + 1, "0123456789") == length - digits - 1)
        while (length > digits && (value[length - 1] == '0' || value[length - 1] == '.'))
            length--; /* scripts give 1.5 as 1.500000 */
    return mgb_fail(MGB_INVALID, "%s = %.*s: give %s", option->name, length < 60 ? length : 60,
                    value, possible);
}

/* --- setting --- */
static bool *bool_of(struct mgb_placement *p, enum mgb_option_id id)
{
    return id == MGB_OPTION_CPU_RELOCATION ? &p->cpu_relocation
           : id == MGB_OPTION_CPU_MERGE    ? &p->cpu_merge
           : id == MGB_OPTION_OVERLAP      ? &p->overlap
           : id == MGB_OPTION_STAGED       ? &p->staged
           : id == MGB_OPTION_STALE        ? &p->stale
                                           : &p->logical;
}

static enum mgb_choice *choice_of(struct mgb_placement *p, enum mgb_option_id id)
{
    return id == MGB_OPTION_PEER_ACCESS ? &p->peer_access
           : id == MGB_OPTION_PINNED    ? &p->pinned
                                        : &p->graph;
}

static int *int_of(struct mgb_placement *p, enum mgb_option_id id)
{
    return id == MGB_OPTION_BATCH          ? &p->batch
           : id == MGB_OPTION_GLOBAL_BATCH ? &p->global_batch
           : id == MGB_OPTION_THREADS      ? &p->threads
                                           : &p->hosts;
}

static struct mgb_device_name *device_of(struct mgb_placement *p, enum mgb_option_id id)
{
    return id == MGB_OPTION_WEIGHTS_AT ? &p->weights_at
           : id == MGB_OPTION_MERGE_AT ? &p->merge_at
           : id == MGB_OPTION_JOIN_AT  ? &p->join_at
           : id == MGB_OPTION_LOSS_AT  ? &p->loss_at
           : id == MGB_OPTION_SUM_AT   ? &p->sum_at
                                       : &p->update_at;
}

static void enum_put(struct mgb_placement *p, enum mgb_option_id id, int value)
{
    if (id == MGB_OPTION_STRATEGY)
        p->strategy = (enum mgb_strategy)value;
    else if (id == MGB_OPTION_LIKE)
        p->like = (enum mgb_like)value;
    else if (id == MGB_OPTION_RELOCATION)
        p->relocation = (enum mgb_relocation)value;
    else if (id == MGB_OPTION_ALLREDUCE)
        p->allreduce = (enum mgb_allreduce)value;
    else if (id == MGB_OPTION_WIRE_TYPE)
        p->wire_type = (enum mgb_wire_type)value;
    else if (id == MGB_OPTION_BN)
        p->bn = (enum mgb_batch_norm)value;
    else if (id == MGB_OPTION_PRECISION)
        p->precision = (enum mgb_precision)value;
    else
        p->recompute = (enum mgb_recompute)value;
}

static int enum_get(const struct mgb_placement *p, enum mgb_option_id id)
{
    return id == MGB_OPTION_STRATEGY     ? (int)p->strategy
           : id == MGB_OPTION_LIKE       ? (int)p->like
           : id == MGB_OPTION_RELOCATION ? (int)p->relocation
           : id == MGB_OPTION_ALLREDUCE  ? (int)p->allreduce
           : id == MGB_OPTION_WIRE_TYPE  ? (int)p->wire_type
           : id == MGB_OPTION_BN         ? (int)p->bn
           : id == MGB_OPTION_PRECISION  ? (int)p->precision
                                         : (int)p->recompute;
}

static enum mgb_status set_enum(struct mgb_placement *p, const struct mgb_option *option,
                                const char *value)
{
    char all[160] = "";
    size_t used = 0;
    for (int i = 0; option->values[i]; i++) {
        if (strcasecmp(option->values[i], value) == 0) {
            enum_put(p, option->id, i);
            return MGB_OK;
        }
        used += (size_t)snprintf(all + used, sizeof all - used, i > 0 ? ", %s" : "one of %s",
                                 option->values[i]);
    }
    return value_fail(option, value, all);
}

static enum mgb_status set_choice(struct mgb_placement *p, const struct mgb_option *option,
                                  const char *value)
{
    bool yes;
    if (strcasecmp(value, "auto") == 0) {
        *choice_of(p, option->id) = MGB_CHOICE_AUTO;
        return MGB_OK;
    }
    if (!mgb_value_read_bool(&yes, value))
        return value_fail(option, value, "auto, true or false");
    *choice_of(p, option->id) = yes ? MGB_CHOICE_YES : MGB_CHOICE_NO;
    return MGB_OK;
}

static enum mgb_status set_device(struct mgb_placement *p, const struct mgb_option *option,
                                  const char *value)
{
    struct mgb_device_name name;
    bool may_spread = option->id == MGB_OPTION_WEIGHTS_AT || option->id == MGB_OPTION_SUM_AT;
    if (mgb_device_parse(&name, value) != MGB_OK)
        return value_fail(option, value,
                          may_spread ? "a device (/cpu:0, /gpu:1) or spread"
                                     : "a device (/cpu:0, /gpu:1)");
    if (name.kind == MGB_DEVICE_SPREAD && !may_spread)
        return value_fail(option, value, "one device; only weights_at and sum_at can be spread");
    *device_of(p, option->id) = name;
    return MGB_OK;
}

/* "2,0,3" and "{2, 0, 3}"; one id in braces is a list too. */
static enum mgb_status set_list(struct mgb_placement *p, const struct mgb_option *option,
                                const char *value)
{
    static const char possible[] = "a count from 0, or ids in merge order, as 2,0,3";
    bool braces = *value == '{' || *value == '[';
    char close = *value == '{' ? '}' : ']';
    const char *c = mgb_value_skip_blanks(value + braces);
    int ids[MGB_MAX_LISTED_GPUS], count = 0;
    if (braces && *c == close)
        return value_fail(option, value, "at least one id; 0 runs one tower on /cpu:0");
    for (;;) {
        if (count == MGB_MAX_LISTED_GPUS)
            return mgb_fail(MGB_INVALID, "%s: a list has at most %d ids; give a count",
                            option->name, MGB_MAX_LISTED_GPUS);
        if (!mgb_value_read_int(&ids[count++], &c, COUNT_MOST))
            return value_fail(option, value, possible);
        c = mgb_value_skip_blanks(c);
        if (*c != ',')
            break;
        c = mgb_value_skip_blanks(c + 1);
    }
    if (braces ? *c != close || *mgb_value_skip_blanks(c + 1) : *c != '\0')
        return value_fail(option, value, possible);
    p->listed = count;
    p->gpus = count;
    memcpy(p->ids, ids, (size_t)count * sizeof ids[0]);
    return MGB_OK;
}

static enum mgb_status set_gpus(struct mgb_placement *p, const struct mgb_option *option,
                                const char *value)
{
    const char *c = value;
    int count;
    if (!strpbrk(value, ",{[")) {
        /* A negative count is refused where the devices are known: mgb_resolve_towers. */
        bool below = *c == '-';
        c += below;
        if (!mgb_value_read_int(&count, &c, COUNT_MOST) || *c != '\0')
            return value_fail(option, value, "a count from 0, or ids in merge order, as 2,0,3");
        p->gpus = below ? -count : count;
        p->listed = 0;
        return MGB_OK;
    }
    return set_list(p, option, value);
}

static enum mgb_status set_number(struct mgb_placement *p, const struct mgb_option *option,
                                  const char *value)
{
    const char *c = value;
    double number;
    if (!mgb_value_read_decimal(&number, &c) || *c != '\0' || number <= 0 || number > 1e6)
        return value_fail(option, value, "a size in MiB, above 0 and at most 1000000");
    p->bucket_mib = number;
    return MGB_OK;
}

static enum mgb_status set_int(struct mgb_placement *p, const struct mgb_option *option,
                               const char *value)
{
    const char *c = value;
    int number;
    if (!mgb_value_read_int(&number, &c, INT_MAX) || *c != '\0' || number < 1)
        return value_fail(option, value, "a whole number from 1 to 2147483647");
    *int_of(p, option->id) = number;
    return MGB_OK;
}

static enum mgb_status set_value(struct mgb_placement *p, const struct mgb_option *option,
                                 const char *value)
{
    switch (option->kind) {
    case MGB_KIND_BOOL:
        return mgb_value_read_bool(bool_of(p, option->id), value)
                   ? MGB_OK
                   : value_fail(option, value, "true or false");
    case MGB_KIND_CHOICE:
        return set_choice(p, option, value);
    case MGB_KIND_INT:
        return set_int(p, option, value);
    case MGB_KIND_NUMBER:
        return set_number(p, option, value);
    case MGB_KIND_BYTES:
        return mgb_value_read_bytes(&p->gpu_memory, value)
                   ? MGB_OK
                   : value_fail(option, value, "bytes, as 4GiB or 512MiB");
    case MGB_KIND_ENUM:
        return set_enum(p, option, value);
    case MGB_KIND_DEVICE:
        return set_device(p, option, value);
    case MGB_KIND_GPUS:
        return set_gpus(p, option, value);
    }
    return MGB_OK;
}

/* Back to the default, as if never given. */
static void unset(struct mgb_placement *p, const struct mgb_option *option)
{
    struct mgb_placement fresh;
    mgb_placement_init(&fresh);
    switch (option->kind) {
    case MGB_KIND_BOOL:
        *bool_of(p, option->id) = *bool_of(&fresh, option->id);
        break;
    case MGB_KIND_CHOICE:
        *choice_of(p, option->id) = *choice_of(&fresh, option->id);
        break;
    case MGB_KIND_INT:
        *int_of(p, option->id) = *int_of(&fresh, option->id);
        break;
    case MGB_KIND_NUMBER:
        p->bucket_mib = fresh.bucket_mib;
        break;
    case MGB_KIND_BYTES:
        p->gpu_memory = fresh.gpu_memory;
        break;
    case MGB_KIND_ENUM:
        enum_put(p, option->id, enum_get(&fresh, option->id));
        break;
    case MGB_KIND_DEVICE:
        *device_of(p, option->id) = *device_of(&fresh, option->id);
        break;
    case MGB_KIND_GPUS:
        p->gpus = fresh.gpus;
        p->listed = 0;
        break;
    }
    p->given &= ~(UINT64_C(1) << option->id);
}

static enum mgb_status unknown_option(const char *name)
{
    const char *names[MGB_OPTION_COUNT];
    for (int i = 0; i < MGB_OPTION_COUNT; i++)
        names[i] = mgb_placement_options()[i].name;
    const char *near = mgb_nearest_name(name, names, MGB_OPTION_COUNT);
    return mgb_fail(MGB_INVALID, "there is no placement option '%.60s'%s%s%s", name,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

enum mgb_status mgb_placement_set(struct mgb_placement *placement, const char *name,
                                  const char *value)
{
    const struct mgb_option *option = mgb_placement_find_option(name);
    struct mgb_placement changed = *placement;
    if (!option)
        return unknown_option(name);
    if (value[0] == '\0' || strcmp(value, "nil") == 0 ||
        (option->id == MGB_OPTION_THREADS && strcasecmp(value, "auto") == 0)) {
        unset(placement, option);
        return MGB_OK;
    }
    MGB_TRY(set_value(&changed, option, value));
    changed.given |= UINT64_C(1) << option->id;
    if (option->id == MGB_OPTION_BATCH)
        unset(&changed, mgb_placement_find_option("global_batch"));
    else if (option->id == MGB_OPTION_GLOBAL_BATCH)
        unset(&changed, mgb_placement_find_option("batch"));
    *placement = changed;
    return MGB_OK;
}

/* --- getting --- */
static void gpus_get(char *out, size_t size, const struct mgb_placement *p)
{
    size_t used = 0;
    if (p->listed == 0)
        mgb_format(out, size, "%d", p->gpus);
    else if (p->listed == 1)
        mgb_format(out, size, "{%d}", p->ids[0]);
    else
        for (int i = 0; i < p->listed && used < size; i++)
            used += (size_t)mgb_format(out + used, size - used, i > 0 ? ",%d" : "%d", p->ids[i]);
}

static const char *choice_name(enum mgb_choice choice)
{
    return choice == MGB_CHOICE_YES ? "true" : choice == MGB_CHOICE_NO ? "false" : "auto";
}

static void value_get(char *out, size_t size, const struct mgb_placement *asked,
                      const struct mgb_option *option)
{
    struct mgb_placement p = *asked;
    char device[MGB_DEVICE_NAME_MAX];
    switch (option->kind) {
    case MGB_KIND_BOOL:
        mgb_format(out, size, "%s", *bool_of(&p, option->id) ? "true" : "false");
        break;
    case MGB_KIND_CHOICE:
        mgb_format(out, size, "%s", choice_name(*choice_of(&p, option->id)));
        break;
    case MGB_KIND_INT:
        mgb_format(out, size, "%d", *int_of(&p, option->id));
        break;
    case MGB_KIND_NUMBER:
        mgb_format_number(out, size, p.bucket_mib);
        break;
    case MGB_KIND_BYTES:
        mgb_format(out, size, "%lld", (long long)p.gpu_memory);
        break;
    case MGB_KIND_ENUM:
        mgb_format(out, size, "%s", option->values[enum_get(&p, option->id)]);
        break;
    case MGB_KIND_DEVICE:
        mgb_format(out, size, "%s", mgb_device_format(device, *device_of(&p, option->id)));
        break;
    case MGB_KIND_GPUS:
        gpus_get(out, size, &p);
        break;
    }
}

char *mgb_placement_get_text(char *out, size_t size, const struct mgb_placement *placement,
                             enum mgb_option_id id)
{
    if (size > 0)
        out[0] = '\0';
    if (mgb_option_given(placement, id))
        value_get(out, size, placement, &mgb_placement_options()[id]);
    return out;
}
