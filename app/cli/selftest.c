/* mgbench selftest: is the engine right on this machine, and which differences are noise here? One configuration is run
 * again and again and compared with itself: every verdict but "same" and "undecided" is then a false one. */
#include "app/cli/commands.h"
#include "app/cli/hub.h"
#include "app/cli/interrupt.h"
#include "app/cli/progress.h"
#include "app/cli/selftest.h"
#include "app/script/mgb_lua_selftest.h"
#include "app/script/state.h"
#include "db/draw.h"
#include "db/load.h"
#include "db/store.h"
#include <inttypes.h>
#include <math.h>
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_COMPARISONS = 1000, BATCH = 32, WARMUP = 10 };

static bool is_simulated(const struct mgb_selftest *t)
{
    return strcmp(*t->backend ? t->backend : t->in->backend ? t->in->backend : "", "sim") == 0;
}

/* Before it takes long. */
static void busy_warn(struct mgb_selftest *t, struct mgb_cli_hub *hub)
{
    char line[200];
    struct mgb_busy now;
    mgb_busy_look(&t->begin);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    mgb_busy_look(&now);
    t->busy_percent = mgb_busy_percent(&t->begin, &now);
    mgb_floor_doubt(line, sizeof line, t->busy_percent, 0, is_simulated(t));
    if (*line && hub->services.remark)
        hub->services.remark(hub->services.context, "busy", line);
}

/* ---- running ---- */

struct running {
    struct mgb_cli_hub *hub;
    struct mgb_script *script;
};

static void running_stop(void *context)
{
    struct running *running = context;
    mgb_cli_hub_interrupt(running->hub);
    mgb_script_interrupt(running->script);
}

static int script_failed(const struct mgb_invocation *in, const struct mgb_script *script,
                         enum mgb_status status)
{
    const struct mgb_script_error *error = mgb_script_error_get(script);
    if (status == MGB_INTERRUPTED)
        return in->quiet ? MGB_EXIT_INTERRUPTED
                         : mgb_cli_complain(in, MGB_EXIT_INTERRUPTED,
                                            "interrupted; no noise floor was found");
    return mgb_cli_complain(in, error->usage ? MGB_EXIT_USAGE : mgb_cli_exit_code(status), "%s",
                            error->message);
}

static int script_run(const struct mgb_selftest *t, struct mgb_cli_hub *hub)
{
    char numbers[4][24];
    const int values[] = {t->comparisons * t->repetitions * 2, t->steps, WARMUP, BATCH};
    const char *words[5] = {t->model};
    for (int i = 0; i < 4; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%d", values[i]);
        words[i + 1] = numbers[i];
    }
    struct mgb_script_settings settings = {.lua_path = t->in->lua_path,
                                           .lua_path_count = t->in->lua_path_count,
                                           .words = words,
                                           .word_count = 5,
                                           .services = &hub->services,
                                           .backend = t->in->backend,
                                           .machine = t->in->machine,
                                           .format = t->in->format};
    struct running running = {.hub = hub};
    enum mgb_status status = mgb_script_make(&running.script, &settings);
    if (status != MGB_OK)
        return mgb_cli_complain(t->in, MGB_EXIT_FAILED, "%s", mgb_message_get());
    mgb_interrupt_target(running_stop, &running);
    status = mgb_script_run_inner(running.script, mgb_lua_selftest);
    mgb_interrupt_target(NULL, NULL);
    int code = status == MGB_OK ? MGB_EXIT_OK : script_failed(t->in, running.script, status);
    mgb_script_free(running.script);
    return code;
}

/* ---- comparing ---- */

static enum mgb_status segment_keep(void *context, const struct mgb_value *v, int count)
{
    struct mgb_selftest *t = context;
    (void)count;
    if (t->segment_count == t->comparisons * t->repetitions * 2)
        return mgb_fail(MGB_CORRUPT, "the sweep of this selftest has too many runs");
    t->segments[t->segment_count++] = v[0].integer;
    t->run = v[1].integer;
    snprintf(t->backend, sizeof t->backend, "%s", mgb_value_text(&v[2]));
    snprintf(t->machine, sizeof t->machine, "%s", mgb_value_text(&v[3]));
    return MGB_OK;
}

static enum mgb_status segments_find(struct mgb_selftest *t, struct mgb_reader *reader)
{
    static const char sql[] =
        "SELECT g.id, r.id, r.backend, m.name FROM sweep_point AS p JOIN run AS r ON r.id = "
        "p.run_id"
        "  JOIN segment AS g ON g.run_id = r.id JOIN machine AS m ON m.id = r.machine_id"
        " WHERE p.sweep_id = (SELECT max(id) FROM sweep WHERE name = 'selftest')"
        "   AND r.outcome = 'ok' ORDER BY p.position";
    struct mgb_query_sink sink = {.context = t, .row = segment_keep};
    MGB_TRY(mgb_query_run(reader, sql, NULL, 0, &sink));
    if (t->segment_count < t->comparisons * t->repetitions * 2)
        return mgb_fail(MGB_STATE, "only %d of %d runs came to their end; see mgbench runs",
                        t->segment_count, t->comparisons * t->repetitions * 2);
    return MGB_OK;
}

static enum mgb_status sides_compare(struct mgb_comparison *out, struct mgb_reader *reader,
                                     const int64_t *a, const int64_t *b, int count)
{
    struct mgb_loaded_side left, right;
    struct mgb_compare_options options = {.floor = MGB_COMPARE_FLOOR};
    MGB_TRY(mgb_side_load(&left, reader, a, count));
    enum mgb_status status = mgb_side_load(&right, reader, b, count);
    if (status == MGB_OK) {
        status = mgb_compare(out, &left.side, &right.side, &options);
        mgb_side_done(&right);
    }
    mgb_side_done(&left);
    return status;
}

static enum mgb_status comparisons_make(struct mgb_selftest *t, struct mgb_reader *reader)
{
    int n = t->repetitions;
    int64_t *sides = calloc(2 * (size_t)n, sizeof *sides);
    enum mgb_status status =
        sides ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "comparing: memory is exhausted");
    for (int c = 0; status == MGB_OK && c < t->comparisons; c++) {
        struct mgb_comparison comparison;
        for (int i = 0; i < n; i++) {
            const int64_t *pair = &t->segments[2 * (c * n + i)];
            /* Which of two neighbouring runs is A's is drawn, so that a drift favours neither. */
            bool swap = mgb_draw_at(MGB_DRAW_SEED, 0, (uint64_t)(c * n + i)) & 1;
            sides[i] = pair[swap];
            sides[n + i] = pair[!swap];
        }
        status = sides_compare(&comparison, reader, sides, sides + n, n);
        if (status != MGB_OK)
            break;
        bool refused = comparison.verdict == MGB_VERDICT_REFUSED; /* its ratio says nothing */
        if (!refused && comparison.ratio > 0 && isfinite(comparison.ratio))
            t->ratios[t->ratio_count++] = comparison.ratio;
        t->refused += refused;
        t->false_verdicts +=
            comparison.verdict == MGB_VERDICT_FASTER || comparison.verdict == MGB_VERDICT_SLOWER;
    }
    free(sides);
    return status;
}

/* What was run, as a JSON object; to be freed, NULL when memory is out. */
static char *settings_make(const struct mgb_selftest *t)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "{\"batch\":%d,\"comparisons\":%d,\"gpus\":1,\"last_run\":%" PRId64 ",\"model\":",
            BATCH, t->comparisons, t->run);
    mgb_json_put(out, t->model, strlen(t->model));
    fprintf(out, ",\"repetitions\":%d,\"steps\":%d,\"warmup\":%d}", t->repetitions, t->steps,
            WARMUP);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static enum mgb_status floor_store(const struct mgb_selftest *t, const char *database)
{
    struct mgb_store *store;
    char *settings = settings_make(t);
    struct mgb_record_noise_floor record = {.run = t->run,
                                            .floor = t->floor,
                                            .comparisons = t->comparisons,
                                            .false_verdicts = t->false_verdicts,
                                            .settings = settings};
    if (!settings)
        return mgb_fail(MGB_NO_MEMORY, "storing the noise floor: memory is exhausted");
    enum mgb_status status = mgb_store_open(&store, database, NULL);
    if (status == MGB_OK) {
        status = mgb_store_put_noise_floor(store, &record);
        mgb_store_close(store);
    }
    free(settings);
    return status;
}

static enum mgb_status noise_find(struct mgb_selftest *t, const char *database)
{
    struct mgb_reader *reader;
    MGB_TRY(mgb_reader_open(&reader, database));
    enum mgb_status status = segments_find(t, reader);
    if (status == MGB_OK)
        status = comparisons_make(t, reader);
    mgb_reader_close(reader);
    MGB_TRY(status);
    if (t->ratio_count == 0)
        return mgb_fail(MGB_STATE, "none of %d comparisons gave a ratio: no noise floor was found",
                        t->comparisons);
    MGB_TRY(mgb_compare_measure_floor(&t->floor, t->ratios, (size_t)t->ratio_count));
    mgb_floor_doubt(t->doubt, sizeof t->doubt, t->busy_percent, t->floor, is_simulated(t));
    if (!*t->doubt)
        mgb_floor_doubt_count(t->doubt, sizeof t->doubt, t->quick, t->ratio_count, t->refused);
    return *t->doubt && !t->keep ? MGB_OK : floor_store(t, database);
}

static int noise_show(struct mgb_selftest *t, const char *database)
{
    enum mgb_status status = noise_find(t, database);
    if (status == MGB_OK && !mgb_selftest_is_stored(t))
        mgb_cli_complain(t->in, MGB_EXIT_OK, "the noise floor is not stored: %s", t->doubt);
    if (status == MGB_OK && t->in->format == MGB_TABLE_TEXT)
        mgb_selftest_print_text(t, database);
    else if (status == MGB_OK)
        status = mgb_selftest_print_row(t);
    return status == MGB_OK
               ? MGB_EXIT_OK
               : mgb_cli_complain(t->in, mgb_cli_exit_code(status), "%s", mgb_message_get());
}

/* ---- the command ---- */

static int work_do(struct mgb_selftest *t)
{
    struct mgb_cli_hub hub;
    char *database = mgb_cli_database(t->in);
    int most = t->comparisons * t->repetitions * 2;
    t->segments = calloc((size_t)most, sizeof *t->segments);
    t->ratios = calloc((size_t)t->comparisons, sizeof *t->ratios);
    int code = MGB_EXIT_FAILED;
    if (!database || !t->segments || !t->ratios) {
        mgb_cli_complain(t->in, code, database ? "memory is exhausted" : "no place for results");
    } else if (mgb_cli_hub_open(&hub, t->in, NULL, false) != MGB_OK) {
        mgb_cli_complain(t->in, code, "%s", mgb_message_get());
    } else {
        struct mgb_busy end;
        busy_warn(t, &hub);
        code = mgb_cli_hub_close(&hub, script_run(t, &hub)); /* others may write from here on */
        mgb_busy_look(&end);
        int percent = mgb_busy_percent(&t->begin, &end);
        t->busy_percent = percent > t->busy_percent ? percent : t->busy_percent;
        if (code == MGB_EXIT_OK)
            code = noise_show(t, database);
    }
    free(database);
    free(t->segments);
    free(t->ratios);
    return code;
}

static int selftest_run(struct mgb_invocation *in)
{
    bool quick = mgb_cli_find_flag(in, "--quick");
    if (in->machine || (in->backend && strcmp(in->backend, "sim") == 0))
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "selftest looks at this machine: a simulated one has no noise, and "
                                "its runs no values");
    const char *model = mgb_cli_find_flag(in, "--model");
    const char *comparisons = mgb_cli_find_flag(in, "--comparisons");
    char *end = NULL;
    long count = comparisons ? strtol(comparisons, &end, 10) : quick ? 3 : 20;
    if (end && (*end || count < 2 || count > MOST_COMPARISONS))
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "--comparisons: whole number from 2 to %d expected, got '%s'",
                                MOST_COMPARISONS, comparisons);
    struct mgb_selftest t = {.in = in,
                             .model = model ? model : "mlp",
                             .comparisons = (int)count,
                             .repetitions = quick ? 3 : 5,
                             .steps = quick ? 25 : 60,
                             .quick = quick,
                             .keep = mgb_cli_find_flag(in, "--keep")};
    return work_do(&t);
}

static const struct mgb_flag selftest_flags[] = {
    {"--model", "NAME", "what is run (default: mlp)", false},
    {"--comparisons", "N", "how often it is compared with itself (default: 20)", false},
    {"--quick", NULL, "3 short comparisons: does it work at all", false},
    {"--keep", NULL, "store the noise floor whatever it is worth", false},
    {NULL, NULL, NULL, false}};

static const struct mgb_example selftest_examples[] = {
    {"mgbench selftest --quick", "whether the engine is right here, and roughly how noisy it is"},
    {NULL, NULL}};

const struct mgb_command mgb_command_selftest = {
    .name = "selftest",
    .usage = "[--model NAME] [--comparisons N] [--quick] [--keep]",
    .summary = "is the engine right here, and which differences are noise",
    .help =
        "First a small model is trained under four placements, which must end with the same "
        "weights to the\n"
        "last bit. Then one configuration is run many times and compared with itself, as compare "
        "would:\n"
        "a verdict \"faster\" or \"slower\" is a false one, and near 5 % of them or fewer is "
        "right. "
        "The distance\n"
        "from 1 that 95 % of the ratios keep is the noise floor of this machine and backend, at "
        "least 1 %. It is\n"
        "stored, and from then on compare and sweep count smaller differences as none. Run it on "
        "an idle\n"
        "machine: it is shown and not stored where other programs take a fifth of the processors, "
        "the floor is\n"
        "above 10 %, a comparison was refused, there were fewer than 10, or --quick made it; "
        "--keep stores it\n"
        "all the same. Of the stored ones the newest of 10 comparisons or more counts, and none "
        "above 10 %.\n"
        "Its runs are in the results file as the sweep \"selftest\".\n"
        "\n"
        "exit codes: 0 done, 1 the engine is wrong here or a run failed, 2 wrong usage, 130 "
        "interrupted\n",
    .examples = selftest_examples,
    .flags = selftest_flags,
    .run = selftest_run,
};
