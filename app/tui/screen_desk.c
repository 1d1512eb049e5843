/* What views may ask of the screen: desk.h. */
#include "app/tui/screen_private.h"

#include <mgb/status.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const int64_t message_ns = INT64_C(5000000000);

static struct tui_screen *screen_of(struct tui_desk *desk)
{
    return desk->context;
}

static void desk_say(struct tui_desk *desk, enum mgb_line_kind kind, const char *text)
{
    struct tui_screen *screen = screen_of(desk);
    snprintf(screen->message, sizeof screen->message, "%s", text);
    screen->message_kind = kind;
    screen->message_until_ns = screen->now_ns + message_ns;
    screen->dirty = true;
    /* of what there is no room for the log has all */
    if (kind != MGB_LINE_NOTE && screen->options.log && screen->layout.foot.columns > 0 &&
        strlen(text) + 2 > (size_t)screen->layout.foot.columns)
        tui_log_add(screen->options.log, kind, text);
}

void screen_say(struct tui_screen *screen, enum mgb_line_kind kind, const char *format, ...)
{
    char text[sizeof screen->message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    desk_say(&screen->desk, kind, text);
}

void screen_wish(struct tui_screen *screen, const struct mgb_wish *wish)
{
    if (!screen->options.workbench)
        screen_say(screen, MGB_LINE_FAULT, "there is no workbench: nothing can be run here");
    else if (mgb_workbench_ask(screen->options.workbench, wish) != MGB_OK)
        screen_say(screen, MGB_LINE_FAULT, "%s", mgb_message_get());
    else if (wish->kind == MGB_WISH_TAG || wish->kind == MGB_WISH_NOTE)
        screen->listed_ns = 0; /* to be seen soon */
}

static void desk_ask(struct tui_desk *desk, const struct mgb_wish *wish)
{
    struct tui_screen *screen = screen_of(desk);
    if (!screen_hold(screen, wish))
        screen_wish(screen, wish);
}

static void desk_list(struct tui_desk *desk, const struct mgb_list_request *request)
{
    struct tui_screen *screen = screen_of(desk);
    if (screen->options.archive)
        mgb_archive_ask(screen->options.archive, request);
}

static void desk_prompt(struct tui_desk *desk, const char *question, const char *initial,
                        tui_answer *answer, void *context)
{
    struct tui_screen *screen = screen_of(desk);
    tui_prompt_open(&screen->prompt, question, initial);
    screen->prompt_is = SCREEN_QUESTION;
    screen->prompt_answer = answer;
    screen->prompt_context = context;
}

static void desk_confirm(struct tui_desk *desk, const char *question, tui_answer *answer,
                         void *context)
{
    struct tui_screen *screen = screen_of(desk);
    struct screen_confirm *confirm = &screen->confirm;
    confirm->open = true;
    snprintf(confirm->question, sizeof confirm->question, "%s", question);
    confirm->answer = answer;
    confirm->context = context;
}

static void desk_menu(struct tui_desk *desk, const char *title, const struct tui_choice *choices,
                      int count, int chosen, tui_answer *answer, void *context)
{
    struct tui_screen *screen = screen_of(desk);
    if (!tui_menu_open(&screen->menu, title, choices, count, chosen, answer, context))
        desk_say(desk, MGB_LINE_FAULT, "no memory for a menu");
}

static void desk_command(struct tui_desk *desk, const char *line)
{
    struct tui_screen *screen = screen_of(desk);
    struct tui_command_table table = screen->options.commands;
    table.recording = tui_is_recording(screen->snapshot);
    table.run = screen->snapshot->recorded ? screen->snapshot->now.run_id : 0;
    tui_command_run(&table, desk, line);
}

static void desk_show(struct tui_desk *desk, const char *title, const char *text)
{
    struct tui_screen *screen = screen_of(desk);
    if (tui_output_put(screen->views[SCREEN_OUTPUT].state, title, text)) {
        *screen->views[SCREEN_OUTPUT].filter = '\0';
        screen->shows = screen_asks(screen);
        if (!screen->shows)
            screen_go(screen, SCREEN_OUTPUT);
    } else {
        desk_say(desk, MGB_LINE_FAULT, "no memory to show it");
    }
}

static void desk_go(struct tui_desk *desk, enum tui_place place)
{
    screen_go(screen_of(desk), screen_find(place));
}

/* Of help and output the screen that they were opened from does it; what works elsewhere alone is done there. */
static void desk_act(struct tui_desk *desk, enum tui_action action)
{
    struct tui_screen *screen = screen_of(desk);
    if (action == TUI_ACT_NONE)
        return;
    unsigned where = tui_actions[action].where;
    if (screen->at >= SCREEN_TABS && action != TUI_ACT_BACK)
        screen_go(screen, screen->from);
    if (!(where & screen->views[screen->at].view->place))
        screen_go(screen, screen_find((enum tui_place)(where & (0u - where))));
    screen_act(screen, action);
}

void screen_desk_make(struct tui_screen *screen)
{
    screen->desk = (struct tui_desk){
        .context = screen,
        .ask = desk_ask,
        .list = desk_list,
        .say = desk_say,
        .prompt = desk_prompt,
        .confirm = desk_confirm,
        .menu = desk_menu,
        .command = desk_command,
        .show = desk_show,
        .go = desk_go,
        .act = desk_act,
    };
}
