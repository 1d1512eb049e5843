/* A menu over the body: its choices, those that pass what was typed, and the one in hand. */
#include "app/tui/menu.h"
#include "app/tui/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool passes(const struct tui_menu *menu, const struct tui_choice *choice)
{
    char text[sizeof choice->label + sizeof choice->note + 2];
    snprintf(text, sizeof text, "%s %s", choice->label, choice->note);
    return tui_filter_passes(menu->filter, text);
}

/* Of those that pass, number `at`; NULL: there is none. */
static const struct tui_choice *choice_at(const struct tui_menu *menu, int at)
{
    for (int i = 0; i < menu->count; i++)
        if (passes(menu, &menu->choices[i]) && at-- == 0)
            return &menu->choices[i];
    return NULL;
}

static void fit(struct tui_menu *menu)
{
    int count = 0;
    for (int i = 0; i < menu->count; i++)
        count += passes(menu, &menu->choices[i]);
    tui_list_fit(&menu->list, count, menu->list.fits > 0 ? menu->list.fits : 1);
}

bool tui_menu_open(struct tui_menu *menu, const char *title, const struct tui_choice *choices,
                   int count, int chosen, tui_answer *answer, void *context)
{
    struct tui_choice *copies = malloc((size_t)(count > 0 ? count : 1) * sizeof *copies);
    if (!copies)
        return false;
    if (count > 0)
        memcpy(copies, choices, (size_t)count * sizeof *copies);
    tui_menu_done(menu);
    *menu = (struct tui_menu){
        .open = true, .choices = copies, .count = count, .answer = answer, .context = context};
    snprintf(menu->title, sizeof menu->title, "%s", title);
    menu->list.at = chosen;
    fit(menu);
    return true;
}

void tui_menu_done(struct tui_menu *menu)
{
    free(menu->choices);
    *menu = (struct tui_menu){0};
}

static enum tui_action move_of(int key)
{
    switch (key) {
    case TUI_KEY_UP:
        return TUI_ACT_UP;
    case TUI_KEY_DOWN:
        return TUI_ACT_DOWN;
    case TUI_KEY_PAGE_UP:
        return TUI_ACT_PAGE_UP;
    case TUI_KEY_PAGE_DOWN:
        return TUI_ACT_PAGE_DOWN;
    case TUI_KEY_HOME:
        return TUI_ACT_FIRST;
    case TUI_KEY_END:
        return TUI_ACT_LAST;
    }
    return TUI_ACT_NONE;
}

/* Another filter: the first of what passes is in hand. */
static void refilter(struct tui_menu *menu)
{
    menu->list.at = menu->list.top = 0;
    fit(menu);
}

static void type(struct tui_menu *menu, int key)
{
    char bytes[5];
    size_t used = strlen(menu->filter);
    if (key == TUI_KEY_BACKSPACE || key == 0x7f || key == 8)
        menu->filter[tui_utf8_before(menu->filter, used)] = '\0';
    else if (tui_utf8_is_text(key) &&
             used + tui_point_write(bytes, (uint32_t)key) < sizeof menu->filter)
        strcpy(menu->filter + used, bytes);
    else
        return;
    refilter(menu);
}

bool tui_menu_key(struct tui_menu *menu, int key, const char **chosen)
{
    enum tui_action move = move_of(key);
    *chosen = NULL;
    if (move != TUI_ACT_NONE) {
        tui_list_act(&menu->list, move);
    } else if (key == TUI_KEY_ENTER || key == '\r' || key == '\n') {
        const struct tui_choice *choice = choice_at(menu, menu->list.at);
        if (!choice || choice->disabled)
            return false;
        menu->open = false;
        *chosen = choice->value;
        return true;
    } else if ((key == TUI_KEY_ESCAPE || key == 0x1b) && *menu->filter) {
        *menu->filter = '\0';
        refilter(menu);
    } else if (key == TUI_KEY_ESCAPE || key == 0x1b || key == 3) {
        menu->open = false;
        return true;
    } else {
        type(menu, key);
    }
    return false;
}

enum { NOTE_ROWS = 2, NOTE_LEAST = 7 };

/* The frame is as wide as the longest choice wants, within the body. Where a note is cut, there are rows at the foot for that
 * of the choice in hand: `notes`. */
static struct tui_rect frame_of(const struct tui_menu *menu, struct tui_rect body, int *notes)
{
    int columns = (int)strlen(menu->title) + 8, rows = menu->count + 2;
    for (int i = 0; i < menu->count; i++) {
        const struct tui_choice *choice = &menu->choices[i];
        int wide = (int)(strlen(choice->label) + strlen(choice->note)) + (*choice->note ? 8 : 6);
        columns = wide > columns ? wide : columns;
    }
    columns = columns < 36 ? 36 : columns;
    *notes = columns > body.columns && body.rows >= NOTE_LEAST ? NOTE_ROWS : 0;
    rows += *notes;
    columns = columns > body.columns ? body.columns : columns;
    rows = rows > body.rows ? body.rows : rows;
    return (struct tui_rect){body.y + (body.rows - rows) / 2, body.x + (body.columns - columns) / 2,
                             rows, columns};
}

static void frame_draw(const struct tui_menu *menu, struct tui_canvas *canvas,
                       struct tui_rect frame)
{
    for (int y = 0; y < frame.rows; y++)
        tui_fill(canvas, frame, y, 0, frame.columns, TUI_PLAIN, ' ', ' ');
    for (int y = 1; y < frame.rows - 1; y++) {
        tui_fill(canvas, frame, y, 0, 1, TUI_TITLE, 0x2502, '|');
        tui_fill(canvas, frame, y, frame.columns - 1, 1, TUI_TITLE, 0x2502, '|');
    }
    tui_fill(canvas, frame, 0, 0, frame.columns, TUI_TITLE, 0x2500, '-');
    tui_fill(canvas, frame, frame.rows - 1, 0, frame.columns, TUI_TITLE, 0x2500, '-');
    static const uint32_t corners[4] = {0x250c, 0x2510, 0x2514, 0x2518};
    for (int i = 0; i < 4; i++)
        tui_fill(canvas, frame, i < 2 ? 0 : frame.rows - 1, i % 2 ? frame.columns - 1 : 0, 1,
                 TUI_TITLE, corners[i], '+');
    int x = tui_print(canvas, frame, 0, 2, TUI_TITLE, " %s ", menu->title);
    if (*menu->filter)
        tui_print(canvas, frame, 0, x, TUI_KEY, "/%s ", menu->filter);
    tui_put(canvas, frame, frame.rows - 1, 2, TUI_DIM, " Enter chooses  Esc  type to filter ");
}

static void choice_draw(const struct tui_choice *choice, bool in_hand, struct tui_canvas *canvas,
                        struct tui_rect row)
{
    enum tui_style style = in_hand ? TUI_SELECTED : choice->disabled ? TUI_DIM : TUI_PLAIN;
    tui_fill(canvas, row, 0, 0, row.columns, style, ' ', ' ');
    int x = tui_print(canvas, row, 0, 0, style, "%c %s%s", in_hand ? '>' : ' ', choice->label,
                      choice->disabled && !*choice->note ? " (n/a)" : "");
    if (*choice->note)
        tui_put(canvas, row, 0, x + 2, in_hand ? style : TUI_DIM, choice->note);
}

/* Broken between words; what does not fit even so is cut. */
static void note_draw(const struct tui_choice *choice, struct tui_canvas *canvas,
                      struct tui_rect area)
{
    const char *text = choice->note;
    for (int y = 0; y < area.rows && *text; y++) {
        char line[sizeof choice->note];
        size_t length = strlen(text);
        bool last = y == area.rows - 1;
        snprintf(line, sizeof line, "%s", text);
        while (!last && tui_text_width(canvas, line) > area.columns && strrchr(line, ' ')) {
            length = (size_t)(strrchr(line, ' ') - line);
            line[length] = '\0';
        }
        tui_put(canvas, area, y, 0, TUI_PLAIN, line);
        text += length;
        text += strspn(text, " ");
    }
}

void tui_menu_draw(struct tui_menu *menu, struct tui_canvas *canvas, struct tui_rect body)
{
    int notes;
    struct tui_rect frame = frame_of(menu, body, &notes);
    if (frame.rows < 3 || frame.columns < 8)
        return;
    menu->list.fits = frame.rows - 2 - notes;
    fit(menu);
    frame_draw(menu, canvas, frame);
    for (int y = 0; y < menu->list.fits && menu->list.top + y < menu->list.count; y++) {
        const struct tui_choice *choice = choice_at(menu, menu->list.top + y);
        struct tui_rect row = {frame.y + 1 + y, frame.x + 2, 1, frame.columns - 4};
        if (choice)
            choice_draw(choice, menu->list.top + y == menu->list.at, canvas, row);
    }
    const struct tui_choice *in_hand = notes ? choice_at(menu, menu->list.at) : NULL;
    if (in_hand)
        note_draw(in_hand, canvas,
                  (struct tui_rect){frame.y + 1 + menu->list.fits, frame.x + 4, notes,
                                    frame.columns - 6});
    if (menu->list.count == 0)
        tui_put(canvas, frame, 1, 4, TUI_DIM, "nothing is like that; Esc shows all");
}
