/* What is written to a run from its list: tags, notes, baselines, its end. As commands of mgbench, but for the run on the
 * bench, whose rows are the workbench's to write. */
#include "app/tui/command.h"
#include "app/tui/runs.h"

#include <mgb/name.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 64 };

const char *tui_runs_name(char *out, size_t size, const struct runs_mark *run)
{
    snprintf(out, size, run->number > 0 ? "%lld.%d" : "%lld", (long long)run->run, run->number);
    return out;
}

/* A word as tui_command_split takes it: quoted, whatever is in it. Stops where there is no room. */
static size_t word_quote(char *out, size_t size, const char *word, size_t length)
{
    size_t used = 0;
    out[used++] = '\'';
    for (size_t i = 0; i < length && used + 6 < size; i++) {
        if (word[i] == '\'') {
            memcpy(out + used, "'\\''", 4);
            used += 4;
        } else {
            out[used++] = word[i];
        }
    }
    out[used++] = '\'';
    out[used] = '\0';
    return used;
}

static void wish(struct tui_desk *desk, enum mgb_wish_kind kind, const char *text)
{
    desk->ask(desk, &(struct mgb_wish){.kind = kind, .text = text});
}

/* Those to be added, or those to be taken off, as one command. */
static void tags_command(const struct runs_state *state, struct tui_desk *desk, char *const *names,
                         int count, bool remove)
{
    char line[TUI_COMMAND_BYTES];
    size_t used = (size_t)snprintf(line, sizeof line, "tag %lld", (long long)state->target.run);
    size_t empty = used;
    for (int i = 0; i < count; i++) {
        bool off = *names[i] == '-';
        if (off != remove || !names[i][off])
            continue;
        line[used++] = ' ';
        used += word_quote(line + used, sizeof line - used, names[i] + off, strlen(names[i] + off));
    }
    if (used == empty)
        return;
    if (remove)
        snprintf(line + used, sizeof line - used, " --remove");
    desk->command(desk, line);
}

/* Words as the command takes them: several are several tags, one in quotes is one. */
static void tag_answer(void *context, struct tui_desk *desk, const char *text)
{
    struct runs_state *state = context;
    char buffer[TUI_PROMPT_BYTES], *names[MOST_NAMES] = {NULL};
    int count = text ? tui_command_split(buffer, sizeof buffer, names, MOST_NAMES, text) : 0;
    if (count < 0)
        desk->say(desk, MGB_LINE_FAULT, "a quote is not closed, or there are too many tags");
    if (count <= 0 || !tui_command_tags(desk, names, count))
        return;
    for (int i = 0; i < count && state->target_is_ours; i++)
        if (*names[i] != '-')
            wish(desk, MGB_WISH_TAG, names[i]);
    if (!state->target_is_ours)
        tags_command(state, desk, names, count, false);
    tags_command(state, desk, names, count, true);
}

static void note_answer(void *context, struct tui_desk *desk, const char *text)
{
    struct runs_state *state = context;
    char line[TUI_COMMAND_BYTES], quoted[4 * TUI_PROMPT_BYTES + 8];
    if (!text || text[strspn(text, " ")] == '\0')
        return;
    if (state->target_is_ours) {
        wish(desk, MGB_WISH_NOTE, text);
        return;
    }
    word_quote(quoted, sizeof quoted, text, strlen(text));
    /* a blank keeps a note that begins with a dash from being a flag */
    snprintf(line, sizeof line, "note %lld %.1s%s%s", (long long)state->target.run, quoted,
             *text == '-' ? " " : "", quoted + 1);
    desk->command(desk, line);
}

static void baseline_answer(void *context, struct tui_desk *desk, const char *text)
{
    struct runs_state *state = context;
    char line[TUI_COMMAND_BYTES], quoted[4 * TUI_PROMPT_BYTES + 8], name[40];
    if (!text || !*text)
        return;
    word_quote(quoted, sizeof quoted, text, strlen(text));
    snprintf(line, sizeof line, "baseline set %s %s", quoted,
             tui_runs_name(name, sizeof name, &state->target));
    desk->command(desk, line);
}

static void delete_answer(void *context, struct tui_desk *desk, const char *text)
{
    struct runs_state *state = context;
    char line[80];
    if (!text)
        return;
    for (int i = RUNS_MARKS - 1; i >= 0; i--)
        if (state->marks[i].run == state->target.run) {
            state->marks[i] = state->marks[1];
            state->marks[1] = (struct runs_mark){0};
        }
    snprintf(line, sizeof line, "rm %lld --yes", (long long)state->target.run);
    desk->command(desk, line);
}

/* The name of a model without its options. */
static void model_word(char *out, size_t size, const char *model)
{
    snprintf(out, size, "%.*s", (int)strcspn(model, " ?"), model);
}

bool tui_runs_ask(struct runs_state *state, enum tui_action action, const struct mgb_list_row *row,
                  struct tui_desk *desk)
{
    char question[200], name[80];
    if (action == TUI_ACT_TAG) {
        snprintf(question, sizeof question,
                 "tag run %lld (NAME... 'two words', -NAME off): ", (long long)row->run);
        desk->prompt(desk, question, "", tag_answer, state);
    } else if (action == TUI_ACT_NOTE) {
        snprintf(question, sizeof question, "note to run %lld: ", (long long)row->run);
        desk->prompt(desk, question, "", note_answer, state);
    } else if (state->recording) {
        desk->say(desk, MGB_LINE_FAULT,
                  state->target_is_ours && action == TUI_ACT_DELETE
                      ? "this run is on the bench: x there ends it, then it can go"
                      : TUI_COMMAND_RECORDING);
    } else if (action == TUI_ACT_BASELINE) {
        snprintf(question, sizeof question,
                 "pin run %lld as baseline, name: ", (long long)row->run);
        model_word(name, sizeof name, row->model);
        desk->prompt(desk, question, name, baseline_answer, state);
    } else {
        snprintf(question, sizeof question, "delete run %lld (%.60s, %s) for good? y/N",
                 (long long)row->run, row->model, row->outcome);
        desk->confirm(desk, question, delete_answer, state);
    }
    return true;
}

/* Is the option among the "name=value" pairs? */
static bool is_in(const char *pairs, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = pairs; (at = strstr(at, name)); at += length)
        if ((at == pairs || at[-1] == ' ') && at[length] == '=')
            return true;
    return false;
}

/* What the run was not asked for goes back to what is not given, or the placement would be another one. */
static void settings_take(const char *settings, struct tui_desk *desk)
{
    char pairs[2000];
    size_t used = 0;
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        const char *name = mgb_placement_options()[i].name;
        if (!is_in(settings, name) && used + strlen(name) + 6 < sizeof pairs)
            used += (size_t)snprintf(pairs + used, sizeof pairs - used, "%s=nil ", name);
    }
    settings += strspn(settings, " ");
    if (used + strlen(settings) >= sizeof pairs) {
        desk->say(desk, MGB_LINE_FAULT, "its placement is too long to be taken");
        return;
    }
    strcpy(pairs + used, settings);
    wish(desk, MGB_WISH_SET, pairs);
}

/* Such a word would be read as a file of Lua, and run. */
static bool is_file(const char *model)
{
    return strchr(model, '/') || strstr(model, ".lua");
}

void tui_runs_use(const struct mgb_list_row *row, struct tui_desk *desk)
{
    if (is_file(row->model)) {
        desk->say(desk, MGB_LINE_FAULT,
                  "its model is called like a file: :model takes it, if it is to be run");
        return;
    }
    wish(desk, MGB_WISH_MODEL, row->recipe ? row->recipe : row->model);
    if (row->settings)
        settings_take(row->settings, desk);
    if (!row->recipe || !row->settings)
        desk->say(desk, MGB_LINE_WARNING,
                  row->settings ? "its model has options that no line can say: without them"
                                : "its placement is not known: the model alone is taken");
    desk->go(desk, TUI_ON_BENCH);
}
