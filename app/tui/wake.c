/* How other threads reach the loop. They write a line or a count and go on: none waits for the screen. */
#include "app/tui/program.h"
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

void tui_wake(void *context)
{
    struct tui_program *program = context;
    if (!atomic_exchange(&program->is_woken, true))
        eventfd_write(program->wake, 1);
}

void tui_wake_log(void *context, enum mgb_line_kind kind, const char *line)
{
    struct tui_program *program = context;
    tui_log_add(program->log, kind, line); /* wakes by itself */
}

static void job_free(struct tui_ended_job *job)
{
    free(job->line);
    free(job->text);
    free(job);
}

void tui_wake_job_ended(void *context, const char *line, const char *text, int code)
{
    struct tui_program *program = context;
    struct tui_ended_job *job = calloc(1, sizeof *job);
    if (job)
        *job = (struct tui_ended_job){.code = code, .line = strdup(line), .text = strdup(text)};
    if (!job || !job->line || !job->text) {
        if (job)
            job_free(job);
        tui_log_add(program->log, MGB_LINE_FAULT, "a command ended; no memory for what it printed");
        return;
    }
    pthread_mutex_lock(&program->jobs_lock);
    job->next = program->ended;
    program->ended = job;
    pthread_mutex_unlock(&program->jobs_lock);
    tui_wake(program);
}

void tui_wake_take(struct tui_program *program)
{
    eventfd_t count;
    atomic_store(&program->is_woken, false); /* first: what comes from here on wakes once more */
    eventfd_read(program->wake, &count);
}

void tui_wake_jobs(struct tui_program *program)
{
    struct tui_ended_job *newest, *oldest = NULL;
    pthread_mutex_lock(&program->jobs_lock);
    newest = program->ended;
    program->ended = NULL;
    pthread_mutex_unlock(&program->jobs_lock);
    while (newest) {
        struct tui_ended_job *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct tui_ended_job *next = oldest->next;
        if (program->screen)
            tui_screen_job_ended(program->screen, oldest->line, oldest->text, oldest->code);
        job_free(oldest);
        oldest = next;
    }
}
