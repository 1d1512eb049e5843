/* Where a key goes: the line being typed, a question, a menu, the view in front, and what is left the screen itself. */
#include "app/tui/screen_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Answers may open the next prompt or menu: nothing of the one that ended is looked at after the call. */
static void answer_give(struct tui_screen *screen, tui_answer *answer, void *context,
                        const char *text)
{
    if (answer)
        answer(context, &screen->desk, text);
}

static void filter_tell(struct tui_screen *screen, const char *text)
{
    struct screen_view *v = &screen->views[screen->at];
    size_t length = strlen(text);
    length = length < sizeof v->filter ? length : sizeof v->filter - 1;
    while (text[length] && length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    bool same = strncmp(v->filter, text, length) == 0 && v->filter[length] == '\0';
    if (same)
        return;
    memcpy(v->filter, text, length);
    v->filter[length] = '\0';
    if (screen->at == SCREEN_RUNS) {
        struct tui_scene scene = screen_scene(screen);
        tui_runs_filter(v->state, &scene, &screen->desk);
    }
}

static int complete(void *context, const char *line, char (*out)[160], int most, size_t *from)
{
    struct tui_screen *screen = context;
    struct mgb_workbench *workbench = screen->options.workbench;
    char *models = workbench ? mgb_workbench_models(workbench, true) : NULL;
    struct tui_completions completions = {&screen->options.commands, screen->snapshot->facts,
                                          models};
    int count = tui_command_complete(&completions, line, out, most, from);
    free(models);
    return count;
}

static void prompt_key(struct tui_screen *screen, int key)
{
    bool command = screen->prompt_is == SCREEN_COMMAND, filter = screen->prompt_is == SCREEN_FILTER;
    enum tui_prompt_result result = tui_prompt_key(
        &screen->prompt, key, command ? &screen->history : NULL, command ? complete : NULL, screen);
    if (filter)
        filter_tell(screen, result == TUI_PROMPT_GIVEN_UP ? "" : screen->prompt.text);
    if (result == TUI_PROMPT_GOES_ON || filter)
        return;
    char line[TUI_PROMPT_BYTES];
    strcpy(line, screen->prompt.text);
    if (!command) {
        answer_give(screen, screen->prompt_answer, screen->prompt_context,
                    result == TUI_PROMPT_DONE ? line : NULL);
    } else if (result == TUI_PROMPT_DONE && *line) {
        tui_history_add(&screen->history, line);
        screen->desk.command(&screen->desk, line);
    }
}

static void confirm_key(struct tui_screen *screen, int key)
{
    struct screen_confirm confirm = screen->confirm;
    screen->confirm.open = false;
    answer_give(screen, confirm.answer, confirm.context, key == 'y' || key == 'Y' ? "y" : NULL);
}

static void menu_key(struct tui_screen *screen, int key)
{
    const char *chosen;
    char value[sizeof screen->menu.choices->value];
    if (!tui_menu_key(&screen->menu, key, &chosen))
        return;
    if (chosen)
        snprintf(value, sizeof value, "%s", chosen);
    answer_give(screen, screen->menu.answer, screen->menu.context, chosen ? value : NULL);
}

bool screen_asks(const struct tui_screen *screen)
{
    return screen->prompt.open || screen->confirm.open || screen->menu.open;
}

void screen_act(struct tui_screen *screen, enum tui_action action)
{
    struct screen_view *v = &screen->views[screen->at];
    if (action == TUI_ACT_NONE)
        return;
    screen->fired[action]++;
    if (screen->options.readonly && screen_changes(action)) {
        screen_say(screen, MGB_LINE_FAULT, "%s: --readonly: nothing is run or changed",
                   tui_actions[action].name);
        return;
    }
    struct tui_scene scene = screen_scene(screen);
    if (!v->view->act || !v->view->act(v->state, action, &scene, &screen->desk))
        screen_act_default(screen, action);
}

/* These work whatever is being typed. */
static bool key_always(struct tui_screen *screen, int key)
{
    enum tui_action action = key < ' ' ? tui_action_of_key(key, TUI_EVERYWHERE) : TUI_ACT_NONE;
    if (action != TUI_ACT_REDRAW && action != TUI_ACT_SUSPEND)
        return false;
    screen_act(screen, action);
    return true;
}

/* Ctrl-C gives up what asks; once more leaves, as after one that stops steps. */
static void given_up(struct tui_screen *screen)
{
    screen->stop_ns = screen->now_ns ? screen->now_ns : 1;
    if (!*screen->message)
        screen_say(screen, MGB_LINE_NOTE, "given up; Ctrl-C once more: quit");
}

/* What is too small to be drawn takes no keys but those that end or leave it; a question is shown all the same. */
static bool key_unseen(struct tui_screen *screen, int key)
{
    bool stops = key == ('C' & 0x1f);
    if (!screen->layout.too_small || screen->confirm.open || (stops && !screen_asks(screen)))
        return false;
    if (key == 'q')
        screen_act_default(screen, TUI_ACT_QUIT);
    return !stops;
}

enum tui_screen_wish tui_screen_key(struct tui_screen *screen, int key, int64_t now_ns)
{
    screen->now_ns = now_ns;
    screen->wish = TUI_SCREEN_GOES_ON;
    screen->dirty = true;
    if (key == TUI_KEY_NONE || key == TUI_KEY_RESIZE || key == TUI_KEY_MOUSE)
        return TUI_SCREEN_GOES_ON;
    *screen->message = *screen->warning = '\0';
    screen->key_ms = screen_wall_ms();
    bool asked = screen_asks(screen);
    if (key_always(screen, key) || key_unseen(screen, key))
        return screen->wish;
    if (screen->prompt.open)
        prompt_key(screen, key);
    else if (screen->confirm.open)
        confirm_key(screen, key);
    else if (screen->menu.open)
        menu_key(screen, key);
    else
        screen_act(screen, tui_action_of_key(key, screen->views[screen->at].view->place));
    if (key == ('C' & 0x1f) && asked && !screen_asks(screen))
        given_up(screen);
    if (screen->shows && !screen_asks(screen)) {
        screen->shows = false;
        screen_go(screen, SCREEN_OUTPUT);
    }
    return screen->wish;
}

static bool is_in(struct tui_rect rect, int y, int x)
{
    return y >= rect.y && y < rect.y + rect.rows && x >= rect.x && x < rect.x + rect.columns;
}

void tui_screen_click(struct tui_screen *screen, int y, int x, int wheel, bool twice)
{
    const struct screen_view *v = &screen->views[screen->at];
    screen->dirty = true;
    if (screen->layout.too_small || screen->prompt.open || screen->confirm.open)
        return;
    if (screen->menu.open) {
        if (wheel)
            menu_key(screen, wheel > 0 ? TUI_KEY_DOWN : TUI_KEY_UP);
        return;
    }
    if (is_in(screen->layout.tabs, y, x) && !wheel)
        for (int i = 0; i < SCREEN_TABS; i++)
            if (x >= screen->tab_x[i] && x < screen->tab_x[i + 1]) {
                screen_go(screen, i);
                return;
            }
    if (!is_in(screen->layout.body, y, x))
        return;
    struct tui_scene scene = screen_scene(screen);
    if (v->view->click)
        v->view->click(v->state, y, x, wheel, &scene, &screen->desk);
    if (twice && (tui_actions[TUI_ACT_OPEN].where & v->view->place))
        screen_act(screen, TUI_ACT_OPEN);
}
