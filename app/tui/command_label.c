/* Verbs that write to runs that are stored: while this program records, what the workbench can write is asked of it, and what it
 * cannot is refused at once. See command.h. */
#include "app/tui/command.h"

#include <ctype.h>
#include <mgb/name.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 64, LINE_SIZE = TUI_COMMAND_BYTES };

static void say(struct tui_desk *desk, const char *format, const char *text)
{
    char line[300];
    snprintf(line, sizeof line, format, text);
    desk->say(desk, MGB_LINE_FAULT, line);
}

/* Words as db/select.h has them; those in quotes are texts. */
static bool names_run(const char *word)
{
    static const char *const kinds[] = {"tag:", "baseline:", "sweep:"};
    for (int i = 0; i < 3; i++)
        if (strncmp(word, kinds[i], strlen(kinds[i])) == 0)
            return true;
    if (strcmp(word, "last") == 0 || strncmp(word, "last~", 5) == 0)
        return true;
    return isdigit((unsigned char)*word) && word[strspn(word, "0123456789.,-")] == '\0';
}

/* While it records: a number, of a segment too, or the run on the bench; 0: others only a command could find. */
static int64_t run_read(const struct tui_command_table *table, const char *word)
{
    char *end;
    if (strcmp(word, "last") == 0)
        return table->run;
    int64_t run = strtoll(word, &end, 10);
    if (*end == '.')
        end += 1 + strspn(end + 1, "0123456789");
    return *end ? 0 : run;
}

/* What is labelled; -1: it was refused. */
static int64_t target_find(const struct tui_command_table *table, struct tui_desk *desk,
                           const char *word)
{
    if (!names_run(word)) {
        if (!table->run)
            say(desk, "'%.60s' is no run, and none is recorded on the bench: name one first", word);
        return table->run ? table->run : -1;
    }
    int64_t run = run_read(table, word);
    if (!run)
        say(desk, "%.60s: " TUI_COMMAND_RECORDING ", or name one run by its number", word);
    return run ? run : -1;
}

static void wish(struct tui_desk *desk, enum mgb_wish_kind kind, int64_t run, const char *text)
{
    desk->ask(desk, &(struct mgb_wish){.kind = kind, .text = text, .run = run});
}

bool tui_command_tags(struct tui_desk *desk, char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (*names[i] != '-' && strchr(names[i], ',')) {
            say(desk, "no tag was stored: there is a comma in '%.40s'", names[i]);
            return false;
        } else if (*names[i] != '-' && mgb_name_check("tag", names[i]) != MGB_OK) {
            desk->say(desk, MGB_LINE_FAULT, mgb_message_get());
            return false;
        }
    return true;
}

static bool tag_line(const struct tui_command_table *table, struct tui_desk *desk,
                     const char *names)
{
    char buffer[LINE_SIZE], *words[MOST_WORDS];
    int count = tui_command_split(buffer, sizeof buffer, words, MOST_WORDS, names);
    bool named = count > 0 && names_run(words[0]);
    if (count < 1 || (named && (count == 1 || !table->recording)))
        return false;
    for (int i = 0; i < count; i++)
        if (*words[i] == '-') {
            if (table->recording)
                say(desk, "%s", TUI_COMMAND_RECORDING);
            return table->recording;
        }
    if (!tui_command_tags(desk, words + named, count - named))
        return true;
    int64_t run = target_find(table, desk, words[0]);
    for (int i = named; i < count && run > 0; i++)
        wish(desk, MGB_WISH_TAG, run, words[i]);
    return true;
}

/* What stands in one pair of quotes, or the whole as it is. */
static const char *text_read(char *buffer, size_t size, const char *text)
{
    char *words[2];
    bool quoted = *text == '\'' || *text == '"';
    return quoted && tui_command_split(buffer, size, words, 2, text) == 1 ? words[0] : text;
}

static void note_store(const struct tui_command_table *table, struct tui_desk *desk,
                       const char *line, char *run, const char *text)
{
    char kept[LINE_SIZE + 1];
    /* a blank keeps a note that begins with a dash from being a flag */
    snprintf(kept, sizeof kept, "%s%s", *text == '-' ? " " : "", text);
    tui_command_start(table, desk, (char *const[]){(char[]){"note"}, run, kept}, 3, line);
}

static bool note_line(const struct tui_command_table *table, struct tui_desk *desk,
                      const char *line, const char *rest)
{
    char buffer[LINE_SIZE], word[80];
    size_t length = strcspn(rest, " \t");
    const char *after = rest + length + strspn(rest + length, " \t");
    snprintf(word, sizeof word, "%.*s", (int)length, rest);
    bool named = length < sizeof word && names_run(word);
    if (!*rest || (named && !*after)) {
        say(desk, "note: %s is missing", *rest ? "a text" : "a run, and a text");
        return true;
    }
    const char *text = text_read(buffer, sizeof buffer, named ? after : rest);
    if (named && !table->recording) {
        note_store(table, desk, line, word, text);
        return true;
    }
    int64_t run = target_find(table, desk, word);
    if (run > 0)
        wish(desk, MGB_WISH_NOTE, run, text);
    return true;
}

bool tui_command_label(const struct tui_command_table *table, struct tui_desk *desk,
                       const char *line)
{
    char word[20];
    size_t length = strcspn(line, " \t");
    const char *rest = line + length + strspn(line + length, " \t");
    snprintf(word, sizeof word, "%.*s", (int)length, line);
    if (strcmp(word, "tag") == 0)
        return tag_line(table, desk, rest);
    if (strcmp(word, "note") == 0)
        return note_line(table, desk, line, rest);
    bool pins = strcmp(word, "baseline") == 0 && strncmp(rest, "list", 4) != 0 && *rest;
    if (!table->recording || (!pins && strcmp(word, "rm") != 0))
        return false;
    say(desk, "%s", TUI_COMMAND_RECORDING);
    return true;
}

bool tui_is_recording(const struct mgb_snapshot *snapshot)
{
    return snapshot->recorded || snapshot->state == MGB_BENCH_OPENING ||
           snapshot->state == MGB_BENCH_SWEEPING || snapshot->state == MGB_BENCH_BUSY;
}
