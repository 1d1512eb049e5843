/* What would end an open run, with all that it has learned, is asked about first; what came along with it waits for the same
 * answer. */
#include "app/script/syntax.h"
#include "app/tui/screen_private.h"

#include <mgb/status.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Open, and with a step to lose. */
static bool is_open(const struct mgb_snapshot *s)
{
    switch (s->state) {
    case MGB_BENCH_RUNNING:
    case MGB_BENCH_PAUSED:
    case MGB_BENCH_BUSY:
        return s->now.number > 0 && s->step > 0;
    case MGB_BENCH_EMPTY:
    case MGB_BENCH_READY:
    case MGB_BENCH_OPENING:
    case MGB_BENCH_SWEEPING:
    case MGB_BENCH_FAILED:
        return false;
    }
    return false;
}

/* What it is ended for; NULL: the wish ends no run. */
static const char *reason_of(enum mgb_wish_kind kind)
{
    return kind == MGB_WISH_MODEL     ? "open"
           : kind == MGB_WISH_DATA    ? "begin anew with data"
           : kind == MGB_WISH_BACKEND ? "begin anew on"
           : kind == MGB_WISH_MACHINE ? "begin anew on machine"
           : kind == MGB_WISH_WARMUP  ? "begin anew with a warm-up of"
           : kind == MGB_WISH_SWEEP   ? "give its devices to the sweep"
                                      : NULL;
}

static void held_free(struct tui_screen *screen)
{
    for (int i = 0; i < screen->held_count; i++)
        free(screen->held[i].text);
    screen->held_count = 0;
}

void screen_hold_done(struct tui_screen *screen)
{
    held_free(screen);
}

static bool held_add(struct tui_screen *screen, enum mgb_wish_kind kind, const char *text)
{
    char *copy = strdup(text ? text : "");
    if (!copy || screen->held_count == SCREEN_HELD) {
        free(copy);
        screen_say(screen, MGB_LINE_FAULT, "no memory to ask about it");
        return false;
    }
    screen->held[screen->held_count++] = (struct screen_held){kind, copy};
    return true;
}

static void hold_answer(void *context, struct tui_desk *desk, const char *text)
{
    struct tui_screen *screen = context;
    (void)desk;
    for (int i = 0; text && i < screen->held_count; i++)
        screen_wish(screen,
                    &(struct mgb_wish){.kind = screen->held[i].kind, .text = screen->held[i].text});
    held_free(screen);
    if (!text)
        screen_say(screen, MGB_LINE_NOTE, "the run goes on as it was");
}

/* `what`: with a blank before it, or "". */
static void hold_ask(struct tui_screen *screen, const char *reason, const char *what)
{
    const struct mgb_snapshot *s = screen->snapshot;
    char run[40] = "the run", question[240];
    if (s->now.run_id && s->recorded)
        snprintf(run, sizeof run, "run %lld", (long long)s->now.run_id);
    snprintf(question, sizeof question, "end %s after %lld step%s and %s%.61s? y/N", run,
             (long long)s->step, s->step == 1 ? "" : "s", reason, what);
    screen->desk.confirm(&screen->desk, question, hold_answer, screen);
}

/* Nothing is ended for what cannot be read. */
static bool is_readable(struct tui_screen *screen, const struct mgb_wish *wish, const char *text)
{
    size_t length = strlen(text);
    bool forced = length > 0 && text[length - 1] == '!';
    if (wish->kind != MGB_WISH_SWEEP || mgb_syntax_check("sweep", text, length - forced) == MGB_OK)
        return true;
    screen_say(screen, MGB_LINE_FAULT, "%s", mgb_message_get());
    return false;
}

bool screen_hold(struct tui_screen *screen, const struct mgb_wish *wish)
{
    const char *reason = reason_of(wish->kind), *text = wish->text ? wish->text : "";
    if (!is_readable(screen, wish, text))
        return true;
    if (screen->held_count > 0 && screen->confirm.open && screen->confirm.answer == hold_answer) {
        (void)held_add(screen, wish->kind, text);
        return true;
    }
    held_free(screen); /* its question gave way to another one */
    size_t length = strlen(text);
    bool at_once = reason && length > 0 && text[length - 1] == '!';
    if (!reason || (!at_once && !is_open(screen->snapshot)))
        return false;
    if (at_once) { /* as after the name of a file that is to be written over */
        char *copy = strndup(text, length - 1 - (length > 1 && text[length - 2] == ' '));
        if (copy)
            screen_wish(screen, &(struct mgb_wish){.kind = wish->kind, .text = copy});
        free(copy);
    } else if (held_add(screen, wish->kind, text)) {
        char what[80] = ""; /* of a sweep it is a table of Lua */
        if (wish->kind != MGB_WISH_SWEEP)
            snprintf(what, sizeof what, " %.60s", *text ? text : "as it comes");
        hold_ask(screen, reason, what);
    }
    return true;
}
