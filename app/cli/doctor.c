/* mgbench doctor: what is wrong, or makes figures worse, and what to do about it. */
#include "app/cli/doctor.h"
#include "app/cli/commands.h"
#include "app/cli/configuration.h"
#include "app/cli/hub.h"
#include "app/cli/interrupt.h"
#include "app/script/terminal.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

struct report {
    const struct mgb_invocation *in;
    struct mgb_table *table; /* NULL: lines for people */
    int counts[3];           /* by level */
};

static const char *level_name(enum mgb_symptom_level level)
{
    switch (level) {
    case MGB_SYMPTOM_OK:
        return "ok";
    case MGB_SYMPTOM_WARN:
        return "warn";
    case MGB_SYMPTOM_FAIL:
        return "FAIL";
    }
    return "ok";
}

static const char *level_color(enum mgb_symptom_level level)
{
    switch (level) {
    case MGB_SYMPTOM_OK:
        return "";
    case MGB_SYMPTOM_WARN:
        return "\033[33m";
    case MGB_SYMPTOM_FAIL:
        return "\033[31m";
    }
    return "";
}

static void symptom_take(void *context, const struct mgb_symptom *symptom)
{
    struct report *report = context;
    report->counts[symptom->level]++;
    if (report->table) {
        mgb_table_add_text(report->table, symptom->level == MGB_SYMPTOM_FAIL
                                              ? "fail"
                                              : level_name(symptom->level));
        mgb_table_add_text(report->table, symptom->what);
        mgb_table_add_text(report->table, symptom->text);
        mgb_table_add_text(report->table, symptom->mend);
        return;
    }
    if (report->in->quiet && symptom->level == MGB_SYMPTOM_OK)
        return;
    const char *color = report->in->color ? level_color(symptom->level) : "";
    printf("%s%-4s%s", color, level_name(symptom->level), *color ? "\033[0m" : "");
    mgb_say(stdout, "  %-15s  %s\n", symptom->what, symptom->text);
    if (symptom->mend)
        mgb_say(stdout, "%23s%s\n", "-> ", symptom->mend);
}

static bool stop_asked(void *context)
{
    (void)context;
    return mgb_interrupt_asked();
}

/* What CPU devices compute with, by version. */
static void host_say(const struct mgb_symptom_sink *sink)
{
    char text[256];
    mgb_cli_libraries_write(text, sizeof text, "host");
    if (*text)
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "cpu devices", NULL, "%s", text);
}

/* False: the database that was asked for is not there. */
static bool all_look(const struct mgb_symptom_sink *sink, const struct mgb_invocation *in)
{
    char *database = mgb_cli_database(in);
    struct mgb_doctor_options options = {.thorough = mgb_cli_find_flag(in, "--thorough") != NULL,
                                         .stop = stop_asked};
    bool there = true;
    if (database)
        there = mgb_doctor_database(sink, database, &options) || !in->db;
    else
        mgb_symptom_say(sink, MGB_SYMPTOM_FAIL, "database", "give --db FILE or set MGBENCH_DB",
                        "no place for results: this user has no home");
    free(database);
    mgb_doctor_machine(sink, "");
    mgb_doctor_limits(sink, "");
    host_say(sink);
    mgb_doctor_gpus(sink, "");
    mgb_doctor_environment(sink, environ);
    return there;
}

static int doctor_run(struct mgb_invocation *in)
{
    static const char *const names[] = {"level", "what", "finding", "mend"};
    struct report report = {.in = in};
    struct mgb_symptom_sink sink = {symptom_take, &report};
    if (in->format != MGB_TABLE_TEXT && mgb_table_make(&report.table, 4, names) != MGB_OK)
        return mgb_cli_complain(in, MGB_EXIT_FAILED, "%s", mgb_message_get());
    bool there = all_look(&sink, in);
    enum mgb_status status = MGB_OK;
    if (report.table)
        status = mgb_table_print(report.table, in->format, stdout);
    else if (!in->quiet)
        printf("\n%d fine, %d to know, %d to mend first\n", report.counts[MGB_SYMPTOM_OK],
               report.counts[MGB_SYMPTOM_WARN], report.counts[MGB_SYMPTOM_FAIL]);
    mgb_table_free(report.table);
    if (status != MGB_OK || mgb_interrupt_asked())
        return mgb_interrupt_asked() ? MGB_EXIT_INTERRUPTED : MGB_EXIT_FAILED;
    if (!there)
        return mgb_cli_complain(in, MGB_EXIT_UNAVAILABLE, "%s is %s", in->db,
                                access(in->db, F_OK) == 0 ? "no file" : "not there");
    return report.counts[MGB_SYMPTOM_FAIL] ? MGB_EXIT_FAILED : MGB_EXIT_OK;
}

static const struct mgb_flag flags[] = {
    {"--thorough", NULL, "reads all of the database: indexes and references too", false},
    {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench doctor",
     "is the database whole, the machine fit for measuring; exit 1 if something fails"},
    {"mgbench doctor --thorough --quiet",
     "every index and reference too; only what is not fine (exit 1 if it fails)"},
    {NULL, NULL}};

const struct mgb_command mgb_command_doctor = {
    .name = "doctor",
    .usage = "[--thorough]",
    .summary = "looks over the database and the machine, and says what to mend",
    .help =
        "The database: is it whole, who writes or reads it, log, disk. The machine: clocks, load, "
        "limits,\n"
        "memory, GPUs, variables that change figures. What cannot be read here is no fault. A "
        "warning makes\n"
        "figures or work worse; what fails stops work or loses rows. Nothing is changed.\n"
        "\n"
        "exit codes: 1 something fails, 4 the database asked for is not there; else 0\n",
    .examples = examples,
    .flags = flags,
    .run = doctor_run,
};
