/* The workbench's thread: takes wishes, steps in short pieces between them, looks for what might be pressed when there is
 * time, and sleeps when there is nothing to do. */
#include "app/session/workbench/commands.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mgb_bench_say(struct mgb_workbench *bench, enum mgb_line_kind kind, const char *format, ...)
{
    char line[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (bench->options.log)
        bench->options.log(bench->options.context, kind, line);
}

void mgb_bench_tell(struct mgb_workbench *bench, const char *format, ...)
{
    struct mgb_snapshot *draft = bench->draft;
    va_list args;
    va_start(args, format);
    vsnprintf(draft->said.text, sizeof draft->said.text, format, args);
    va_end(args);
    draft->said.serial++;
    mgb_bench_say(bench, MGB_LINE_NOTE, "%s", draft->said.text);
}

/* The newest fault is shown at the foot: it is the first line, not the end of the traceback. */
static void text_say(struct mgb_workbench *bench, const char *text)
{
    for (enum mgb_line_kind kind = MGB_LINE_FAULT; *text; kind = MGB_LINE_NOTE) {
        int length = (int)strcspn(text, "\n");
        mgb_bench_say(bench, kind, "%.*s", length, text);
        text += length + (text[length] == '\n');
    }
}

/* What went wrong in a script has its file and line, and in the log its source lines and traceback. */
void mgb_bench_complain(struct mgb_workbench *bench, const char *message)
{
    char copy[600];
    const struct mgb_script_error *error = mgb_script_error_get(bench->script);
    bool placed = error->line > 0 && strcmp(error->message, message) == 0;
    if (placed && strcmp(error->file, "command") != 0) /* there it is the line just typed */
        snprintf(copy, sizeof copy, "%s:%d: %s", error->file, error->line, message);
    else
        snprintf(copy, sizeof copy, "%s", message);
    memcpy(bench->draft->message, copy, sizeof copy);
    if (placed)
        text_say(bench, error->text);
    else
        mgb_bench_say(bench, MGB_LINE_FAULT, "%s", copy);
}

/* What changes nothing that takes turns. */
static bool leaves_turns(enum mgb_wish_kind kind)
{
    return kind == MGB_WISH_TRACE || kind == MGB_WISH_SAVE || kind == MGB_WISH_TAG ||
           kind == MGB_WISH_NOTE || kind == MGB_WISH_RUN;
}

static void wish_do(struct mgb_workbench *bench, struct mgb_queued *wish)
{
    const char *text = wish->text ? wish->text : "";
    if (!leaves_turns(wish->kind))
        mgb_bench_turns_stop(bench);
    switch (wish->kind) {
    case MGB_WISH_RUN:
        mgb_bench_run(bench);
        break;
    case MGB_WISH_STOP:
        if (bench->spared > 0)
            bench->spared--;
        else
            mgb_bench_pause(bench);
        break;
    case MGB_WISH_PAUSE:
        mgb_bench_pause(bench);
        break;
    case MGB_WISH_TOGGLE:
    case MGB_WISH_SET:
    case MGB_WISH_UNDO:
        mgb_bench_place(bench, wish);
        break;
    case MGB_WISH_MODEL:
        mgb_bench_offer(bench, "model", text);
        break;
    case MGB_WISH_DATA:
        mgb_bench_offer(bench, "data", text);
        break;
    case MGB_WISH_BACKEND:
        mgb_bench_offer(bench, "backend", text);
        break;
    case MGB_WISH_MACHINE:
        mgb_bench_offer(bench, "machine", text);
        break;
    case MGB_WISH_WARMUP:
        mgb_bench_offer(bench, "warmup", text);
        break;
    case MGB_WISH_TURNS:
        mgb_bench_turns(bench, text);
        break;
    case MGB_WISH_VERIFY:
        mgb_bench_verify(bench);
        break;
    case MGB_WISH_TRACE:
        bench->trace_next = true;
        break;
    case MGB_WISH_EVAL:
        mgb_bench_eval(bench, text);
        break;
    case MGB_WISH_SAVE:
        mgb_bench_save(bench, text);
        break;
    case MGB_WISH_SWEEP:
        mgb_bench_sweep(bench, text);
        break;
    case MGB_WISH_END:
        mgb_bench_end(bench, ", its devices are given back");
        break;
    case MGB_WISH_TAG:
        mgb_bench_tag(bench, wish->run, text);
        break;
    case MGB_WISH_NOTE:
        mgb_bench_note(bench, wish->run, text);
        break;
    }
}

static bool is_quitting(struct mgb_workbench *bench)
{
    pthread_mutex_lock(&bench->lock);
    bool quit = bench->quit;
    pthread_mutex_unlock(&bench->lock);
    return quit;
}

/* Until there is a wish, an answer of the judge, or an end. */
static void rest(struct mgb_workbench *bench)
{
    pthread_mutex_lock(&bench->lock);
    while (!bench->quit && !bench->first && !bench->woken)
        pthread_cond_wait(&bench->wake, &bench->lock);
    bench->woken = false;
    pthread_mutex_unlock(&bench->lock);
}

/* One thing; false: there was nothing to do. */
static bool turn(struct mgb_workbench *bench)
{
    struct mgb_queued *wish = mgb_bench_take(bench);
    if (wish) {
        wish_do(bench, wish);
        mgb_bench_wish_free(wish);
        bench->settled = true;
        mgb_bench_publish(bench);
        return true;
    }
    mgb_bench_models(bench);
    bool running = bench->state == MGB_BENCH_RUNNING;
    if (running) {
        mgb_bench_piece(bench);
        mgb_bench_turns_go(bench);
    }
    bool more = bench->draft->facts && mgb_presser_work(bench->presser);
    bench->pressing = more;
    if (running || !more || session_clock_ns() - bench->published_at_ns > 50000000)
        mgb_bench_publish(bench);
    return running || more;
}

/* In the order in which one holds the other. */
static void leave(struct mgb_workbench *bench)
{
    char message[256];
    if (atomic_load(&bench->cut))
        mgb_hub_stop(bench->hub); /* whatever took it back: the run closes as interrupted */
    else
        mgb_hub_resume(bench->hub);
    mgb_script_resume(bench->script);
    if (bench->session)
        (void)mgb_bench_call(bench, NULL, "close", NULL);
    mgb_presser_free(bench->presser);
    mgb_judge_desk_close(bench->desk);
    mgb_bench_offered_drop(bench);
    mgb_script_free(bench->script);
    bool complete = mgb_hub_log_end(bench->hub, message, sizeof message);
    pthread_mutex_lock(&bench->lock);
    bench->closing = true;
    pthread_mutex_unlock(&bench->lock);
    mgb_hub_close(bench->hub);
    pthread_mutex_lock(&bench->lock);
    bench->log_incomplete = !complete;
    memcpy(bench->log_message, message, sizeof message);
    bench->hub = NULL;
    bench->script = NULL;
    bench->gone = true;
    pthread_cond_broadcast(&bench->gone_cond);
    pthread_mutex_unlock(&bench->lock);
}

void *mgb_bench_main(void *argument)
{
    struct mgb_workbench *bench = argument;
    mgb_bench_start(bench);
    while (!is_quitting(bench))
        if (!turn(bench))
            rest(bench);
    leave(bench);
    return NULL;
}
