/* What the bench says of options and of what pressing a key would do. No time is without its sign: `*` stands for stored
 * measurements, `~` for what is simulated, bytes are the plan's. */
#include "app/tui/bench.h"

#include "app/tui/list.h"
#include "app/tui/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bench_line lines[BENCH_LINES] = {
    {"r", "weights at", MGB_OPTION_CPU_RELOCATION}, {"m", "towers meet", MGB_OPTION_CPU_MERGE},
    {"s", "strategy", MGB_OPTION_STRATEGY},         {"gG", "GPUs -/+", MGB_OPTION_GPUS},
    {"bB", "batch -/+", MGB_OPTION_BATCH},          {"p", "peer access", MGB_OPTION_PEER_ACCESS}};

struct bench_line tui_bench_line(int line, const struct mgb_snapshot *snapshot)
{
    struct bench_line out = lines[line];
    if (out.option == MGB_OPTION_BATCH && snapshot->facts) {
        bool global = snapshot->facts->batch_mode == MGB_BATCH_GLOBAL;
        out.name = global ? "global b." : "batch/GPU";
        out.option = global ? MGB_OPTION_GLOBAL_BATCH : MGB_OPTION_BATCH;
    }
    return out;
}

bool tui_bench_has_line(enum mgb_option_id option, const struct mgb_snapshot *snapshot)
{
    for (int i = 0; i < BENCH_LINES; i++) {
        enum mgb_option_id shown = tui_bench_line(i, snapshot).option;
        if (shown == option || mgb_toggle_twin(shown) == option)
            return true;
    }
    return false;
}

const struct mgb_pressed_row *tui_bench_row(const struct mgb_snapshot *snapshot,
                                            enum mgb_option_id option, int direction)
{
    const struct mgb_pressed *pressed = snapshot->pressed;
    for (int i = 0; pressed && i < pressed->count; i++)
        if (pressed->rows[i].option == option && pressed->rows[i].direction == direction)
            return &pressed->rows[i];
    return NULL;
}

static char *bytes_change(char *out, size_t size, double value, double step,
                          const char *const units[4])
{
    int unit = 0;
    while (fabs(value) >= .9995 * step && unit < 3)
        value /= step, unit++;
    snprintf(out, size, fabs(value) < 9.95 && unit > 0 ? "%+.1f%s" : "%+.0f%s", value, units[unit]);
    return out;
}

char *tui_bench_traffic_change(char *out, size_t size, int64_t bytes)
{
    static const char *const units[4] = {"B", "kB", "MB", "GB"};
    return bytes_change(out, size, (double)bytes, 1000, units);
}

char *tui_bench_memory_change(char *out, size_t size, int64_t bytes)
{
    static const char *const units[4] = {"B", "KiB", "MiB", "GiB"};
    return bytes_change(out, size, (double)bytes, 1024, units);
}

/* "+37%", "x2.13"; "same" as it was judged, "?" where that is undecided or refused. */
static void ratio_write(char *out, size_t size, const struct mgb_pressed_row *row)
{
    bool told = strcmp(row->verdict, "faster") == 0 || strcmp(row->verdict, "slower") == 0;
    const char *doubt = told ? "" : "?";
    double percent = (row->ratio - 1) * 100;
    if (strcmp(row->verdict, "same") == 0)
        snprintf(out, size, "same*");
    else if (isnan(row->ratio))
        snprintf(out, size, "-");
    else if (row->ratio >= 2 || row->ratio <= .5)
        snprintf(out, size, "x%.3g%s*", row->ratio, doubt);
    else
        snprintf(out, size, fabs(percent) < 9.95 ? "%+.1f%%%s*" : "%+.0f%%%s*", percent, doubt);
}

/* "~12.3ms" */
static void predicted_write(char *out, size_t size, const struct mgb_pressed_row *row)
{
    char ms[24];
    tui_number(ms, sizeof ms, row->ms);
    snprintf(out, size, "~%sms", ms);
}

static void plan_write(char *out, size_t size, const struct mgb_pressed_row *row, size_t most)
{
    char change[24];
    const char *of = row->traffic_change ? " link" : row->gpu_change ? " gpu" : " cpu";
    int64_t memory = row->gpu_change ? row->gpu_change : row->cpu_change;
    if (row->traffic_change)
        tui_bench_traffic_change(change, sizeof change, row->traffic_change);
    else
        tui_bench_memory_change(change, sizeof change, memory);
    if (!row->traffic_change && !memory)
        snprintf(out, size, most < 10 ? "+0B" : "same bytes");
    else
        snprintf(out, size, "%s%s", change, strlen(change) + strlen(of) <= most ? of : "");
}

char *tui_bench_effect(char *out, size_t size, const struct mgb_pressed_row *row, size_t most)
{
    *out = '\0';
    if (!row)
        return out;
    switch (row->from) {
    case MGB_PRESSED_NONE:
        snprintf(out, size, "...");
        break;
    case MGB_PRESSED_PARKED:
        snprintf(out, size, "n/a");
        break;
    case MGB_PRESSED_REFUSED:
        snprintf(out, size, "refused");
        break;
    case MGB_PRESSED_OOM:
        snprintf(out, size, "OOM");
        break;
    case MGB_PRESSED_PLANNED:
        plan_write(out, size, row, most);
        break;
    case MGB_PRESSED_MEASURED:
        ratio_write(out, size, row);
        break;
    case MGB_PRESSED_PREDICTED:
        predicted_write(out, size, row);
        break;
    case MGB_PRESSED_SAME:
        snprintf(out, size, "no change");
        break;
    }
    return out;
}

enum tui_style tui_bench_effect_style(const struct mgb_pressed_row *row)
{
    if (!row || row->from == MGB_PRESSED_NONE || row->from == MGB_PRESSED_PARKED ||
        row->from == MGB_PRESSED_SAME)
        return TUI_DIM;
    if (row->from == MGB_PRESSED_REFUSED || row->from == MGB_PRESSED_OOM)
        return TUI_BAD;
    if (row->from == MGB_PRESSED_MEASURED || row->from == MGB_PRESSED_PREDICTED)
        return strcmp(row->verdict, "faster") == 0   ? TUI_GOOD
               : strcmp(row->verdict, "slower") == 0 ? TUI_BAD
                                                     : TUI_PLAIN;
    return TUI_PLAIN;
}

static void known_add(char *out, size_t size, const char *what, const char *change)
{
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s %s", used ? ", " : "", what, change);
}

static void measured_write(char *out, size_t size, const struct mgb_pressed_row *row)
{
    char interval[64] = "", base[40] = "";
    if (row->base_run)
        snprintf(base, sizeof base, " against stored run %lld", (long long)row->base_run);
    if (!isnan(row->low) && !isnan(row->high))
        snprintf(interval, sizeof interval, " [%.3f, %.3f]", row->low, row->high);
    snprintf(out, size, "* x%.3f%s %s%s, %lld segment%s", row->ratio, interval, row->verdict, base,
             (long long)row->segments, row->segments == 1 ? "" : "s");
}

char *tui_bench_known(char *out, size_t size, const struct mgb_pressed_row *row)
{
    char text[32];
    *out = '\0';
    if (row->from == MGB_PRESSED_MEASURED && isnan(row->ratio))
        snprintf(out, size, "* stored, but without figures");
    else if (row->from == MGB_PRESSED_MEASURED)
        measured_write(out, size, row);
    else if (row->from == MGB_PRESSED_PREDICTED)
        snprintf(out, size, "~ %.4g ms simulated, x%.3f an example", row->ms, row->ratio);
    else if (row->from == MGB_PRESSED_SAME)
        snprintf(out, size, "no change: in effect it is the same");
    else if (row->from == MGB_PRESSED_NONE)
        snprintf(out, size, "not found out yet");
    else if (row->from == MGB_PRESSED_PARKED)
        snprintf(out, size, "%s", *row->reason ? row->reason : "n/a");
    else if (row->from != MGB_PRESSED_PLANNED)
        snprintf(out, size, "%s: %s", tui_bench_effect(text, sizeof text, row, 0), row->reason);
    if (row->from != MGB_PRESSED_MEASURED && row->from != MGB_PRESSED_PLANNED &&
        row->from != MGB_PRESSED_PREDICTED)
        return out;
    if (row->traffic_change)
        known_add(out, size, "link",
                  tui_bench_traffic_change(text, sizeof text, row->traffic_change));
    if (row->gpu_change)
        known_add(out, size, "gpu", tui_bench_memory_change(text, sizeof text, row->gpu_change));
    if (row->cpu_change)
        known_add(out, size, "cpu", tui_bench_memory_change(text, sizeof text, row->cpu_change));
    if (!*out)
        snprintf(out, size, "plan: the same bytes");
    return out;
}

char *tui_bench_value(char *out, size_t size, const struct mgb_facts *facts,
                      enum mgb_option_id option)
{
    const struct mgb_facts_option *options = facts ? facts->options : NULL;
    enum mgb_option_kind kind = mgb_placement_options()[option].kind;
    bool joins = options && *options[MGB_OPTION_JOIN_AT].effective;
    enum mgb_option_id shown = option;
    if (option == MGB_OPTION_CPU_RELOCATION)
        shown = MGB_OPTION_WEIGHTS_AT;
    else if (option == MGB_OPTION_CPU_MERGE)
        shown = joins ? MGB_OPTION_JOIN_AT : MGB_OPTION_SUM_AT;
    const char *value = options ? options[shown].effective : "-";
    bool truth = shown == option && (kind == MGB_KIND_BOOL || kind == MGB_KIND_CHOICE);
    snprintf(out, size, "%s",
             !*value                                ? "n/a"
             : truth && strcmp(value, "true") == 0  ? "on"
             : truth && strcmp(value, "false") == 0 ? "off"
                                                    : tui_device_words(value));
    return out;
}

int tui_bench_devices(int *out, int *towers, const struct mgb_facts *facts)
{
    int count = 0;
    *towers = 0;
    for (int pass = 0; facts && pass < 2; pass++)
        for (int i = 0; i < facts->device_count && count < MGB_BENCH_DEVICES; i++) {
            const struct mgb_facts_device *device = &facts->devices[i];
            if (!device->used || (device->tower_rows > 0) != (pass == 0))
                continue;
            out[count++] = i;
            *towers += pass == 0;
        }
    return count;
}

double tui_bench_unit(const struct mgb_snapshot *snapshot)
{
    const struct mgb_facts *facts = snapshot->facts;
    int64_t most = 0;
    for (int i = 0; facts && i < facts->device_count; i++)
        if (facts->devices[i].planned_bytes > most)
            most = facts->devices[i].planned_bytes;
    return most < (1 << 30) / 10 ? 1 << 20 : 1 << 30;
}
