/* The screen: the views with their state, and what they are drawn from. See screen.h. */
#include "app/tui/screen_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { WARNING_MS = 5000 };
static const int64_t list_age_ns = INT64_C(3000000000), stored_ns = INT64_C(1000000000);

static const struct tui_view *const views[SCREEN_VIEWS] = {
    &tui_view_bench, &tui_view_devices, &tui_view_variables, &tui_view_plan,  &tui_view_runs,
    &tui_view_sweep, &tui_view_log,     &tui_view_help,      &tui_view_output};

static const struct mgb_list no_database = {
    .message = "no results database is open: start with --db FILE"};

int64_t screen_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum mgb_status parts_make(struct tui_screen *screen)
{
    const struct tui_screen_options *o = &screen->options;
    for (int i = 0; i < SCREEN_VIEWS; i++) {
        screen->views[i].view = views[i];
        screen->views[i].state = calloc(1, views[i]->state_size ? views[i]->state_size : 1);
        if (!screen->views[i].state)
            return mgb_fail(MGB_NO_MEMORY, "no memory for the screen");
    }
    screen->snapshot = o->workbench ? mgb_workbench_look(o->workbench, &screen->pending) : NULL;
    if (!screen->snapshot)
        screen->snapshot = mgb_snapshot_make();
    screen->record_dir = o->record_dir ? strdup(o->record_dir) : NULL;
    if (!screen->snapshot || (o->record_dir && !screen->record_dir))
        return mgb_fail(MGB_NO_MEMORY, "no memory for the screen");
    return MGB_OK;
}

enum mgb_status tui_screen_make(struct tui_screen **out, const struct tui_screen_options *options)
{
    struct tui_screen *screen = calloc(1, sizeof *screen);
    if (!screen)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the screen");
    screen->options = *options;
    screen->dirty = true;
    screen_desk_make(screen);
    enum mgb_status status = parts_make(screen);
    if (status != MGB_OK) {
        tui_screen_free(screen);
        return status;
    }
    *out = screen;
    return MGB_OK;
}

void tui_screen_free(struct tui_screen *screen)
{
    if (!screen)
        return;
    for (int i = 0; i < SCREEN_VIEWS; i++) {
        struct screen_view *v = &screen->views[i];
        if (v->state && v->view->done)
            v->view->done(v->state);
        free(v->state);
    }
    screen_hold_done(screen);
    tui_menu_done(&screen->menu);
    tui_history_done(&screen->history);
    mgb_shared_drop(screen->snapshot);
    mgb_shared_drop(screen->runs);
    free(screen->record_dir);
    free(screen->models);
    free(screen);
}

struct tui_scene screen_scene(const struct tui_screen *screen)
{
    const struct mgb_list *runs = screen->runs;
    return (struct tui_scene){
        .snapshot = screen->snapshot,
        .pending = &screen->pending,
        .runs = runs                      ? runs
                : screen->options.archive ? NULL
                                          : &no_database,
        .log = screen->options.log,
        .filter = screen->views[screen->at].filter,
        .from = screen->views[screen->from].view->place,
        .now_ns = screen->now_ns,
        .ascii = !screen->options.utf8,
        .readonly = screen->options.readonly,
    };
}

int screen_find(enum tui_place place)
{
    for (int i = 0; i < SCREEN_VIEWS; i++)
        if (views[i]->place == place)
            return i;
    return SCREEN_BENCH;
}

void screen_go(struct tui_screen *screen, int at)
{
    if (screen->at < SCREEN_TABS && at >= SCREEN_TABS)
        screen->from = screen->at;
    screen->at = at;
    screen->dirty = true;
    if (at < SCREEN_TABS)
        screen->from = at;
    if (at == SCREEN_RUNS) { /* what was recorded since */
        struct tui_scene scene = screen_scene(screen);
        views[at]->act(screen->views[at].state, TUI_ACT_RELOAD, &scene, &screen->desk);
    }
}

bool tui_screen_go(struct tui_screen *screen, const char *place)
{
    for (int i = 0; i < SCREEN_VIEWS; i++)
        if (strcasecmp(views[i]->name, place) == 0) {
            screen_go(screen, i);
            return true;
        }
    return false;
}

/* Takes a part that is held already; true: it is another one. */
static bool snapshot_take(struct tui_screen *screen, const struct mgb_snapshot *fresh)
{
    bool other = fresh->version != screen->snapshot->version;
    if (fresh->said.serial != screen->snapshot->said.serial)
        screen_say(screen, MGB_LINE_NOTE, "%s", fresh->said.text);
    bool segment = fresh->now.segment_id != screen->snapshot->now.segment_id ||
                   fresh->now.run_id != screen->snapshot->now.run_id;
    mgb_shared_drop(screen->snapshot);
    screen->snapshot = fresh;
    if (segment && screen->at == SCREEN_RUNS && screen->options.archive)
        mgb_archive_refresh(screen->options.archive);
    return other;
}

void tui_screen_set_snapshot(struct tui_screen *screen, const struct mgb_snapshot *snapshot)
{
    screen->fixed = true;
    screen->dirty = true;
    snapshot_take(screen, mgb_shared_hold(snapshot));
}

void tui_screen_set_runs(struct tui_screen *screen, const struct mgb_list *runs)
{
    mgb_shared_drop(screen->runs);
    screen->runs = mgb_shared_hold(runs);
    screen->dirty = true;
}

static bool workbench_look(struct tui_screen *screen)
{
    struct mgb_pending pending;
    if (screen->fixed || !screen->options.workbench)
        return false;
    memset(&pending, 0, sizeof pending);
    const struct mgb_snapshot *fresh = mgb_workbench_look(screen->options.workbench, &pending);
    bool changed = memcmp(&pending, &screen->pending, sizeof pending) != 0;
    screen->pending = pending;
    changed = screen_models_follow(screen) || changed;
    return (fresh && snapshot_take(screen, fresh)) || changed;
}

static bool runs_look(struct tui_screen *screen)
{
    const struct mgb_list *fresh =
        screen->options.archive ? mgb_archive_look(screen->options.archive) : NULL;
    if (!fresh)
        return false;
    bool other = !screen->runs || screen->runs->version != fresh->version;
    mgb_shared_drop(screen->runs);
    screen->runs = fresh;
    return other && screen->at == SCREEN_RUNS;
}

/* While something runs its line would stand still. Where nothing is done there is nothing new to ask for, but for what was
 * stored since the list of before, or may not have been in the file yet. */
bool screen_list_is_due(const struct tui_screen *screen)
{
    return screen->changed_ns && screen->listed_ns - screen->changed_ns < stored_ns &&
           screen->now_ns - screen->listed_ns >= list_age_ns;
}

static void runs_follow(struct tui_screen *screen)
{
    if (screen->at != SCREEN_RUNS || !screen->options.archive || !screen_list_is_due(screen))
        return;
    screen->listed_ns = screen->now_ns;
    mgb_archive_refresh(screen->options.archive);
}

/* The newest warning stands at the foot for a while, or until a key says that it was seen. */
static bool log_look(struct tui_screen *screen)
{
    char newest[sizeof screen->warning] = "";
    int64_t now = screen_wall_ms(), since = now - WARNING_MS;
    if (!screen->options.log)
        return false;
    int64_t count = tui_log_count(screen->options.log);
    bool more = count != screen->log_count;
    screen->log_count = count;
    if (!more && !*screen->warning)
        return false;
    if (since < screen->key_ms)
        since = screen->key_ms;
    if (!tui_log_newest(screen->options.log, newest, sizeof newest, since, &screen->warning_kind))
        *newest = '\0';
    bool changed = strcmp(newest, screen->warning) != 0;
    snprintf(screen->warning, sizeof screen->warning, "%s", newest);
    return changed || (more && screen->at == SCREEN_LOG);
}

bool tui_screen_refresh(struct tui_screen *screen, int64_t now_ns)
{
    bool changed = screen->dirty;
    screen->dirty = false;
    screen->now_ns = now_ns;
    if (workbench_look(screen)) {
        changed = true;
        screen->changed_ns = now_ns;
    }
    runs_follow(screen);
    changed |= runs_look(screen);
    changed |= log_look(screen);
    changed |= screen_stop_look(screen);
    if (*screen->message && now_ns >= screen->message_until_ns) {
        *screen->message = '\0';
        changed = true;
    }
    return changed;
}

const int *tui_screen_fired(const struct tui_screen *screen)
{
    return screen->fired;
}

struct tui_history *tui_screen_history(struct tui_screen *screen)
{
    return &screen->history;
}

/* Is it to be read in peace? What a verb that has changed something says first is enough at the foot. */
static bool is_long(const char *line, const char *text, bool failed)
{
    static const char *const brief[] = {"tag ", "note ", "baseline set ", "baseline rm ", "rm "};
    const char *end = strchr(text, '\n');
    for (size_t i = 0; !failed && i < sizeof brief / sizeof *brief; i++)
        if (strncmp(line, brief[i], strlen(brief[i])) == 0)
            return false;
    return (end && end[1]) || strlen(text) > 70;
}

/* "running: mgbench compare 1 2" is true no more. */
static void running_forget(struct tui_screen *screen, const char *line)
{
    char said[sizeof screen->message];
    snprintf(said, sizeof said, TUI_COMMAND_RUNS, line);
    if (strcmp(screen->message, said) == 0)
        screen->message[0] = '\0';
}

void tui_screen_job_ended(struct tui_screen *screen, const char *line, const char *text, int code)
{
    enum mgb_line_kind kind =
        code == 0 || code == TUI_JOB_INTERRUPTED ? MGB_LINE_NOTE : MGB_LINE_FAULT;
    bool stopped = code == TUI_JOB_INTERRUPTED;
    running_forget(screen, line);
    if (screen->options.log && code != 0) {
        char said[4000];
        snprintf(said, sizeof said, "%.150s: exit code %d\n%.3800s", line, code, text);
        tui_log_add(screen->options.log, kind, said);
    }
    if (stopped)
        screen_say(screen, kind, "stopped: %s", line);
    else if (is_long(line, text, code != 0))
        screen->desk.show(&screen->desk, line, text);
    else if (*text)
        screen_say(screen, kind, "%.*s", (int)strcspn(text, "\n"), text);
    else
        screen_say(screen, kind, code == 0 ? "%s: done" : "%s: failed, without a word", line);
    if (screen->options.archive)
        mgb_archive_refresh(screen->options.archive);
    screen->dirty = true;
}
