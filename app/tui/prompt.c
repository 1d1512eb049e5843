/* One line being typed: editing, walking the history, completing words. */
#include "app/tui/prompt.h"
#include "app/tui/key.h"
#include "app/tui/utf8.h"

#include <stdio.h>
#include <string.h>

enum { MOST_COMPLETIONS = 64, CTRL = 0x1f };

static void text_set(struct tui_prompt *prompt, const char *text)
{
    size_t length = strlen(text);
    if (length >= TUI_PROMPT_BYTES) {
        length = TUI_PROMPT_BYTES - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    memmove(prompt->text, text, length);
    prompt->text[length] = '\0';
    prompt->used = prompt->at = length;
    prompt->lost = 0;
}

void tui_prompt_open(struct tui_prompt *prompt, const char *question, const char *initial)
{
    prompt->open = true;
    snprintf(prompt->question, sizeof prompt->question, "%s", question);
    text_set(prompt, initial);
    prompt->back = 0;
    prompt->completion = -1;
}

static void cut(struct tui_prompt *prompt, size_t from, size_t to)
{
    memmove(prompt->text + from, prompt->text + to, prompt->used - to + 1);
    prompt->used -= to - from;
    prompt->at = from;
    prompt->lost = 0;
}

/* False: there is no room for it. */
static bool insert(struct tui_prompt *prompt, const char *text)
{
    size_t length = strlen(text);
    if (prompt->used + length >= TUI_PROMPT_BYTES)
        return false;
    memmove(prompt->text + prompt->at + length, prompt->text + prompt->at,
            prompt->used - prompt->at + 1);
    memcpy(prompt->text + prompt->at, text, length);
    prompt->used += length;
    prompt->at += length;
    return true;
}

static size_t word_begin(const struct tui_prompt *prompt)
{
    size_t at = prompt->at;
    while (at > 0 && prompt->text[at - 1] == ' ')
        at--;
    while (at > 0 && prompt->text[at - 1] != ' ')
        at--;
    return at;
}

/* `by` 1: an older line, -1: a newer one; past the newest is what was being typed. */
static void history_walk(struct tui_prompt *prompt, const struct tui_history *history, int by)
{
    int to = prompt->back + by;
    if (!history || to < 0 || to > history->count)
        return;
    if (prompt->back == 0)
        memcpy(prompt->typed, prompt->text, prompt->used + 1);
    prompt->back = to;
    text_set(prompt, to == 0 ? prompt->typed : history->lines[history->count - to]);
}

/* Puts `word` in the place of what stands between the beginning of the word and the cursor. */
static void word_put(struct tui_prompt *prompt, const char *word)
{
    cut(prompt, prompt->completed_from, prompt->at);
    insert(prompt, word);
}

/* The first candidate, and then one after the other; after the last one what was typed. A single one is finished. */
static void complete_next(struct tui_prompt *prompt, tui_complete *complete, void *context, int by)
{
    char line[TUI_PROMPT_BYTES], words[MOST_COMPLETIONS][160];
    size_t from = 0;
    bool first = prompt->completion < 0;
    memcpy(line, prompt->text, prompt->at);
    line[prompt->at] = '\0';
    if (!first)
        snprintf(line + prompt->completed_from, sizeof line - prompt->completed_from, "%s",
                 prompt->stem);
    int count = complete(context, line, words, MOST_COMPLETIONS, &from);
    if (count <= 0 || from > strlen(line))
        return;
    if (first) {
        prompt->completed_from = from;
        strcpy(prompt->stem, line + from);
    }
    int at = first ? (by > 0 ? 0 : count - 1) : prompt->completion + by;
    if (at < 0 || at > count)
        at = at < 0 ? count : 0;
    prompt->completion = at;
    word_put(prompt, at == count ? prompt->stem : words[at]);
    if (count == 1) {
        if (prompt->at > 0 && !strchr("=/", prompt->text[prompt->at - 1]) &&
            prompt->at == prompt->used)
            insert(prompt, " ");
        prompt->completion = -1;
    }
}

static void delete_at(struct tui_prompt *prompt)
{
    cut(prompt, prompt->at, tui_utf8_after(prompt->text, prompt->at));
}

static void delete_before(struct tui_prompt *prompt)
{
    cut(prompt, tui_utf8_before(prompt->text, prompt->at), prompt->at);
}

static bool key_move(struct tui_prompt *prompt, int key)
{
    switch (key) {
    case TUI_KEY_LEFT:
    case 'B' & CTRL:
        prompt->at = tui_utf8_before(prompt->text, prompt->at);
        return true;
    case TUI_KEY_RIGHT:
    case 'F' & CTRL:
        prompt->at = tui_utf8_after(prompt->text, prompt->at);
        return true;
    case TUI_KEY_HOME:
    case 'A' & CTRL:
        prompt->at = 0;
        return true;
    case TUI_KEY_END:
    case 'E' & CTRL:
        prompt->at = prompt->used;
        return true;
    }
    return false;
}

static bool key_delete(struct tui_prompt *prompt, int key)
{
    switch (key) {
    case TUI_KEY_BACKSPACE:
    case 0x7f:
    case 'H' & CTRL:
        delete_before(prompt);
        return true;
    case TUI_KEY_DELETE:
    case 'D' & CTRL:
        delete_at(prompt);
        return true;
    case 'K' & CTRL:
        cut(prompt, prompt->at, prompt->used);
        return true;
    case 'U' & CTRL:
        cut(prompt, 0, prompt->at);
        return true;
    case 'W' & CTRL:
        cut(prompt, word_begin(prompt), prompt->at);
        return true;
    }
    return false;
}

enum tui_prompt_result tui_prompt_key(struct tui_prompt *prompt, int key,
                                      const struct tui_history *history, tui_complete *complete,
                                      void *context)
{
    bool next = key == TUI_KEY_TAB || key == '\t', previous = key == TUI_KEY_SHIFT_TAB;
    if (next || previous) {
        if (complete)
            complete_next(prompt, complete, context, next ? 1 : -1);
        return TUI_PROMPT_GOES_ON;
    }
    prompt->completion = -1;
    bool enter = key == TUI_KEY_ENTER || key == '\r' || key == '\n';
    if (enter && prompt->lost > 0)
        return TUI_PROMPT_GOES_ON;
    if (enter) {
        prompt->open = false;
        return TUI_PROMPT_DONE;
    }
    if (key == TUI_KEY_ESCAPE || key == 0x1b || key == ('C' & CTRL)) {
        prompt->open = false;
        return TUI_PROMPT_GIVEN_UP;
    }
    if (key == TUI_KEY_UP || key == TUI_KEY_DOWN) {
        history_walk(prompt, history, key == TUI_KEY_UP ? 1 : -1);
    } else if (!key_move(prompt, key) && !key_delete(prompt, key) && tui_utf8_is_text(key)) {
        char bytes[5];
        tui_point_write(bytes, (uint32_t)key);
        if (!insert(prompt, bytes))
            prompt->lost += strlen(bytes);
    }
    return TUI_PROMPT_GOES_ON;
}

void tui_prompt_draw(const struct tui_prompt *prompt, struct tui_canvas *canvas,
                     struct tui_rect row, int *cursor)
{
    char head[TUI_PROMPT_BYTES];
    struct tui_rect question = row;
    int most = row.columns * 2 / 3;
    question.columns = most;
    int x = prompt->lost > 0 ? tui_print(canvas, question, 0, 0, TUI_BAD,
                                         "%zu too many (at most %d bytes), delete: ", prompt->lost,
                                         TUI_PROMPT_BYTES - 1)
                             : tui_put(canvas, question, 0, 0, TUI_STRONG, prompt->question);
    x = x > most ? most : x;
    size_t from = 0;
    int room = row.columns - x - 1;
    memcpy(head, prompt->text, prompt->at);
    head[prompt->at] = '\0';
    while (head[from] && tui_text_width(canvas, head + from) > room)
        from = tui_utf8_after(head, from);
    x = tui_put(canvas, row, 0, x, TUI_PLAIN, head + from);
    *cursor = x >= row.columns ? row.columns - 1 : x;
    tui_put(canvas, row, 0, x, TUI_PLAIN, prompt->text + prompt->at);
}
