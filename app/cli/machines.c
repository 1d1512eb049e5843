/* mgbench machines: the machine files that the simulator plays on, and where their figures come from. */
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/machine.h"
#include "app/script/models.h"
#include "app/script/terminal.h"
#include <stdlib.h>
#include <string.h>

struct listing {
    struct mgb_invocation *in;
    struct mgb_table *table;
    char *names; /* those seen, each with a NUL behind it */
    size_t used;
    bool broken, exhausted;
};

/* Of two files of one name the first is found. */
static bool is_hidden(struct listing *l, const char *name)
{
    size_t length = strlen(name) + 1;
    for (size_t at = 0; at < l->used; at += strlen(l->names + at) + 1)
        if (strcmp(l->names + at, name) == 0)
            return true;
    char *names = realloc(l->names, l->used + length);
    if (!names) {
        l->exhausted = true;
        return true;
    }
    memcpy(names + l->used, name, length);
    l->names = names;
    l->used += length;
    return false;
}

static void machine_add(void *context, const char *name, const char *path)
{
    struct listing *l = context;
    struct mgb_machine *machine;
    char fault[512], kinds[128];
    if (!path || is_hidden(l, name) || mgb_interrupt_asked()) {
        l->exhausted = l->exhausted || !path;
        return;
    }
    enum mgb_status status = mgb_cli_machine_read(&machine, fault, sizeof fault, l->in, path);
    mgb_table_add_text(l->table, name);
    if (status == MGB_OK) {
        mgb_table_add_integer(l->table, mgb_cli_machine_gpus(machine));
        mgb_table_add_text(l->table, *machine->summary
                                         ? machine->summary
                                         : mgb_cli_machine_kinds(kinds, sizeof kinds, machine));
    } else {
        l->broken = true;
        fault[strcspn(fault, "\n")] = '\0';
        mgb_table_add_empty(l->table);
        mgb_table_add_text(l->table, fault);
    }
    if (l->in->format != MGB_TABLE_TEXT)
        mgb_table_add_text(l->table, path);
    mgb_machine_free(machine);
}

static int list_run(struct mgb_invocation *in)
{
    static const char *const names[] = {"machine", "gpus", "summary", "file"};
    struct listing l = {.in = in};
    if (mgb_table_make(&l.table, in->format == MGB_TABLE_TEXT ? 3 : 4, names) != MGB_OK ||
        !mgb_machines_each(in->lua_path, in->lua_path_count, machine_add, &l) || l.exhausted) {
        mgb_table_free(l.table);
        free(l.names);
        return mgb_cli_complain(in, MGB_EXIT_FAILED, "listing machines: memory is exhausted");
    }
    enum mgb_status status = mgb_table_print(l.table, in->format, stdout);
    mgb_table_free(l.table);
    free(l.names);
    if (mgb_interrupt_asked())
        return MGB_EXIT_INTERRUPTED;
    return status == MGB_OK && l.broken
               ? mgb_cli_complain(in, MGB_EXIT_FAILED,
                                  "a machine file cannot be read; mgbench machines NAME says why")
               : mgb_cli_exit_code(status);
}

/* The sources are lines, "gpu.f32_tflops: where it comes from", one without a field for all that have none. */
static enum mgb_status sources_print(const struct mgb_machine *machine,
                                     enum mgb_table_format format)
{
    static const char *const names[] = {"figure", "source"};
    struct mgb_table *table;
    MGB_TRY(mgb_table_make(&table, 2, names));
    for (const char *line = machine->source; *line;) {
        size_t length = strcspn(line, "\n");
        size_t field =
            strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
        bool named =
            field > 0 && field + 1 < length && line[field] == ':' && line[field + 1] == ' ';
        char figure[128];
        snprintf(figure, sizeof figure, "%.*s", (int)field, line);
        mgb_table_add_text(table, named ? figure : NULL);
        size_t skip = named ? field + 2 : 0;
        mgb_table_add_bytes(table, line + skip, length - skip);
        line += length + (line[length] == '\n');
    }
    enum mgb_status status = mgb_table_print(table, format, stdout);
    mgb_table_free(table);
    return status;
}

static int machine_run(struct mgb_invocation *in, const char *name)
{
    struct mgb_machine *machine;
    char fault[2048], kinds[256];
    enum mgb_status status = mgb_cli_machine_read(&machine, fault, sizeof fault, in, name);
    if (status != MGB_OK)
        return mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", fault);
    if (in->format != MGB_TABLE_TEXT) {
        status = sources_print(machine, in->format);
    } else {
        mgb_say(stdout, "%s%s%s\n%s\n", machine->name, *machine->summary ? ": " : "",
                machine->summary, mgb_cli_machine_kinds(kinds, sizeof kinds, machine));
        mgb_say(stdout, "in %s\n\nWhere its figures come from:\n", machine->file);
        for (const char *line = machine->source; *line;) {
            size_t length = strcspn(line, "\n");
            mgb_say(stdout, "  %.*s\n", (int)length, line);
            line += length + (line[length] == '\n');
        }
    }
    mgb_machine_free(machine);
    return status == MGB_OK
               ? MGB_EXIT_OK
               : mgb_cli_complain(in, mgb_cli_exit_code(status), "%s", mgb_message_get());
}

static int machines_run(struct mgb_invocation *in)
{
    return in->word_count > 0 ? machine_run(in, in->words[0]) : list_run(in);
}

static const struct mgb_example examples[] = {
    {"mgbench machines", "those the simulator can play on, and how many GPUs each has"},
    {"mgbench machines dgx1-p100", "where each figure of one comes from"},
    {NULL, NULL}};

const struct mgb_command mgb_command_machines = {
    .name = "machines",
    .usage = "[MACHINE]",
    .summary = "the machines there are for the simulator",
    .help = "Each is a file of Lua that describes devices, wires and the host, with a source for "
            "each figure.\n"
            "The user's own lie in $XDG_DATA_HOME/mgbench/lua/machines/ and in machines/ under a\n"
            "--lua-path. mgbench devices --machine NAME draws one.\n",
    .examples = examples,
    .most_words = 1,
    .run = machines_run,
};
