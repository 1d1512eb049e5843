/* What the flags about training must hold, before anything is opened or shown. That they are numbers was checked. */
#include "app/cli/settings.h"
#include <errno.h>
#include <mgb/checkpoint.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum range { WHOLE_FROM_1, REPEATS, WHOLE_FROM_0, SEED, FROM_0, STEPS, SHARE, TIME };

static const struct {
    const char *flag;
    enum range range;
    const char *optimizers; /* it belongs to, in words; NULL: all, or none */
} training[] = {
    {"--steps", WHOLE_FROM_1, NULL},  {"--epochs", WHOLE_FROM_1, NULL},
    {"--warmup", WHOLE_FROM_0, NULL}, {"--seed", SEED, NULL},
    {"--lr", FROM_0, NULL},           {"--momentum", FROM_0, "sgd"},
    {"--nesterov", FROM_0, "sgd"},    {"--rho", FROM_0, "rmsprop and adadelta"},
    {"--beta1", FROM_0, "adam"},      {"--beta2", FROM_0, "adam"},
    {"--decay", FROM_0, NULL},        {"--epsilon", FROM_0, "rmsprop, adagrad, adadelta and adam"},
    {"--clip-norm", FROM_0, NULL},    {"--trace", STEPS, NULL},
    {"--repeats", REPEATS, NULL},     {"--target-noise", SHARE, NULL},
    {"--max-time", TIME, NULL},
};

static enum mgb_status whole_check(const char *flag, const char *value, int64_t least, int64_t most)
{
    errno = 0;
    long long number = strtoll(value, NULL, 10);
    if (value[strspn(value, "0123456789")] || !*value || errno || number < least || number > most)
        return mgb_fail(MGB_INVALID, "%s: whole number from %lld to %lld expected, got '%s'", flag,
                        (long long)least, (long long)most, value);
    return MGB_OK;
}

/* "5-8" or "5": the last one; -1: neither. */
static int64_t steps_last(const char *value)
{
    char *end;
    errno = 0;
    long long first = strtoll(value, &end, 10), last = first;
    if (*value < '0' || *value > '9')
        return -1;
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        last = strtoll(end + 1, &end, 10);
    return *end || errno || last < first || last > INT32_MAX ? -1 : last;
}

static enum mgb_status steps_check(const struct mgb_invocation *in)
{
    const char *steps = mgb_cli_find_flag(in, "--steps"), *trace = mgb_cli_find_flag(in, "--trace");
    long long count = steps ? atoll(steps) : 100;
    bool open_end = mgb_cli_find_flag(in, "--epochs") || mgb_cli_find_flag(in, "--target-noise") ||
                    mgb_cli_find_flag(in, "--max-time");
    if (!trace || open_end || steps_last(trace) < count)
        return MGB_OK;
    return mgb_fail(MGB_INVALID, "--trace %s: timed steps are counted from 0 to %lld", trace,
                    count - 1);
}

/* A number as scripts have them, which is less than strtod reads; *end is `text` where there is none. */
static double number_read(const char **end, const char *text)
{
    char *behind;
    double number = strtod(text, &behind);
    *end = (size_t)(behind - text) > strspn(text, "0123456789.eE+-") ? text : behind;
    return number;
}

/* "1%" or 0.01, as scripts/lib/run.lua reads it. */
static enum mgb_status share_check(const char *flag, const char *value)
{
    const char *end;
    double share = number_read(&end, value) / (*value && value[strlen(value) - 1] == '%' ? 100 : 1);
    if (end == value || (*end && strcmp(end, "%") != 0) || !(share > 0 && share < 1))
        return mgb_fail(MGB_INVALID,
                        "%s: a share of the median such as 1%% or 0.01, more than 0 and less than "
                        "1, expected, got '%s'",
                        flag, value);
    return MGB_OK;
}

/* As scripts/lib/run.lua reads it: seconds, or with a unit. */
static enum mgb_status time_check(const char *flag, const char *value)
{
    static const char *const units[] = {"", "ms", "s", "m", "min", "h", NULL};
    const char *end;
    double number = number_read(&end, value);
    int unit = 0;
    while (units[unit] && strcmp(units[unit], end) != 0)
        unit++;
    if (end == value || !units[unit] || !(number > 0 && number <= 1e5))
        return mgb_fail(MGB_INVALID, "%s: a time such as 60s, 5m or 1h expected, got '%s'", flag,
                        value);
    return MGB_OK;
}

static enum mgb_status range_check(const char *flag, const char *value, enum range range)
{
    switch (range) {
    case WHOLE_FROM_1:
        return whole_check(flag, value, 1, INT32_MAX);
    case REPEATS:
        return whole_check(flag, value, 1, 1000);
    case WHOLE_FROM_0:
        return strcmp(value, "auto") == 0 ? MGB_OK : whole_check(flag, value, 0, INT32_MAX);
    case SEED:
        return whole_check(flag, value, 0, INT64_MAX);
    case FROM_0:
        if (strtod(value, NULL) < 0)
            return mgb_fail(MGB_INVALID, "%s: number from 0 expected, got '%s'", flag, value);
        return MGB_OK;
    case SHARE:
        return share_check(flag, value);
    case TIME:
        return time_check(flag, value);
    case STEPS:
        if (steps_last(value) < 0)
            return mgb_fail(MGB_INVALID, "%s: timed steps expected, such as 5-8 or 3, got '%s'",
                            flag, value);
        return MGB_OK;
    }
    return MGB_OK;
}

/* Where a checkpoint cannot be saved is not found out after hours. */
static enum mgb_status checkpoint_check(const struct mgb_invocation *in)
{
    static const char *const of_load[] = {"--weights-only", "--partial"};
    const char *save = mgb_cli_find_flag(in, "--save"),
               *repeats = mgb_cli_find_flag(in, "--repeats");
    for (size_t i = 0; i < 2; i++)
        if (mgb_cli_find_flag(in, of_load[i]) && !mgb_cli_find_flag(in, "--load"))
            return mgb_fail(MGB_INVALID, "%s belongs to --load", of_load[i]);
    if (save && repeats && strcmp(repeats, "1") != 0)
        return mgb_fail(MGB_INVALID, "--save and --repeats exclude each other: which of them is to "
                                     "be saved?");
    return save ? mgb_checkpoint_check(save) : MGB_OK;
}

static enum mgb_status flag_check(const char *flag, const char *value, const char *optimizer)
{
    for (size_t i = 0; i < sizeof training / sizeof *training; i++) {
        const char *of = training[i].optimizers;
        if (strcmp(training[i].flag, flag) != 0)
            continue;
        if (of && !strstr(of, optimizer))
            return mgb_fail(MGB_INVALID, "%s belongs to %s, not %s", flag, of, optimizer);
        return range_check(flag, value, training[i].range);
    }
    return MGB_OK;
}

enum mgb_status mgb_cli_training_check(const struct mgb_invocation *in)
{
    const char *given = mgb_cli_find_flag(in, "--optimizer"), *optimizer = given ? given : "sgd";
    const char *data = mgb_cli_find_flag(in, "--data");
    for (int i = 0; i < in->flag_count; i++) {
        const char *value = in->flags[i].value;
        MGB_TRY(flag_check(in->flags[i].name, value ? value : "", optimizer));
    }
    MGB_TRY(steps_check(in));
    MGB_TRY(checkpoint_check(in));
    if (!mgb_cli_find_flag(in, "--epochs"))
        return MGB_OK;
    if (mgb_cli_find_flag(in, "--steps"))
        return mgb_fail(MGB_INVALID, "--steps and --epochs exclude each other");
    if (mgb_cli_find_flag(in, "--target-noise"))
        return mgb_fail(MGB_INVALID, "--target-noise and --epochs exclude each other");
    if (!data || strcmp(data, "random") == 0 || strncmp(data, "random:", 7) == 0)
        return mgb_fail(MGB_INVALID, "--epochs: random data has no end; give --steps, or --data "
                                     "mnist, digits or a file");
    return MGB_OK;
}
