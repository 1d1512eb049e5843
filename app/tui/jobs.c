/* See jobs.h. One thread waits for the output and the end of all of them; it sleeps while none runs. A job has a process
 * group of its own, so that Ctrl-C on the terminal is the screen's alone. */
#include "app/tui/jobs.h"

#include <mgb/thread.h>
#include "app/tui/jobs_private.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_JOBS = 8, MOST_BLOCKS = 64, SLICE_MS = 50, PATIENCE_MS = 2000 };

/* Of standard output and error: what the screen folds into lines at once. */
static const size_t most_bytes[2] = {1 << 20, 128 << 10};

struct output {
    int fd; /* -1: at its end */
    char *bytes;
    size_t used;
    bool cut; /* the rest was too much */
};

struct job {
    bool used, asked;        /* asked: to end */
    int stops, stops_passed; /* wishes to stop, and how many of them it was told */
    pid_t pid;
    int watch; /* a descriptor of the process; -1: it is looked after now and then */
    struct output outputs[2];
    char *line;
};

struct tui_jobs {
    char *program, *database;
    void (*ended)(void *context, const char *line, const char *text, int code);
    void *context;
    pthread_mutex_t lock; /* of what follows; contents of a job are the thread's */
    int columns, running;
    bool quit;
    struct job jobs[MOST_JOBS];
    int wake;
    pthread_t thread;
};

static void descriptor_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void output_add(struct output *output, const char *bytes, size_t count, size_t most)
{
    size_t room = most - output->used;
    size_t taken = count < room ? count : room;
    char *grown = taken > 0 ? realloc(output->bytes, output->used + taken) : NULL;
    output->cut = output->cut || taken < count || (taken > 0 && !grown);
    if (!grown)
        return;
    output->bytes = grown;
    memcpy(output->bytes + output->used, bytes, taken);
    output->used += taken;
}

/* All that is there, and no more than a pipe holds: who writes on and on must not keep the others. */
static void output_take(struct job *job, int which)
{
    struct output *output = &job->outputs[which];
    char block[16384];
    ssize_t got = 1;
    for (int i = 0; i < MOST_BLOCKS && output->fd >= 0 && got > 0; i++) {
        got = read(output->fd, block, sizeof block);
        if (got > 0)
            output_add(output, block, (size_t)got, most_bytes[which]);
    }
    if (got == 0)
        descriptor_close(&output->fd);
}

static void job_done(struct job *job)
{
    for (int i = 0; i < 2; i++) {
        descriptor_close(&job->outputs[i].fd);
        free(job->outputs[i].bytes);
    }
    descriptor_close(&job->watch);
    free(job->line);
    *job = (struct job){.watch = -1};
}

/* Both outputs as one text; NULL: no memory. */
static char *job_text(const struct job *job)
{
    const struct output *o = job->outputs;
    static const char cut[] = "\n(the rest is left out: it is too much for a screen)\n";
    char *text = malloc(o[0].used + o[1].used + 2 * sizeof cut + 1), *end = text;
    if (!text)
        return NULL;
    for (int i = 0; i < 2; i++) {
        if (o[i].used > 0)
            end = mempcpy(end, o[i].bytes, o[i].used);
        if (o[i].cut)
            end = mempcpy(end, cut, sizeof cut - 1);
    }
    for (char *c = text; c < end; c++)
        *c = *c ? *c : '?'; /* a text ends at the first of these */
    *end = '\0';
    return text;
}

/* The process is gone: what is still in the pipes counts; who else holds them is not waited for. */
static void job_finish(struct tui_jobs *jobs, struct job *job, int status)
{
    output_take(job, 0);
    output_take(job, 1);
    char *text = job_text(job), *line = job->line;
    int code = WIFEXITED(status)   ? WEXITSTATUS(status)
               : job->stops_passed ? TUI_JOB_INTERRUPTED
                                   : -1;
    pthread_mutex_lock(&jobs->lock);
    bool told = !jobs->quit;
    job->line = NULL;
    job_done(job);
    jobs->running--;
    pthread_mutex_unlock(&jobs->lock);
    if (told)
        jobs->ended(jobs->context, line, text ? text : "memory is exhausted\n", code);
    free(line);
    free(text);
}

static void jobs_look(struct tui_jobs *jobs)
{
    for (int i = 0; i < MOST_JOBS; i++) {
        struct job *job = &jobs->jobs[i];
        int status =
            -1; /* stays so where ends are told to nobody: SIGCHLD was ignored from the start */
        pthread_mutex_lock(&jobs->lock);
        bool used = job->used;
        pthread_mutex_unlock(&jobs->lock);
        if (!used)
            continue;
        output_take(job, 0);
        output_take(job, 1);
        pid_t got = waitpid(job->pid, &status, WNOHANG);
        if (got == job->pid || (got < 0 && errno == ECHILD))
            job_finish(jobs, job, status);
    }
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Once may be answered in peace, twice ends mgbench at once. Not the group: a supervisor passes it on. */
static void job_stop(struct job *job)
{
    enum { PATIENT_STOPS = 2 };
    if (job->stops > PATIENT_STOPS)
        kill(-job->pid, SIGKILL);
    else
        kill(job->pid, SIGINT);
    job->stops_passed = job->stops;
}

/* Waits for anything; returns false once there is nothing more to wait for. *since: when the end was asked for. */
static bool jobs_wait(struct tui_jobs *jobs, int64_t *since)
{
    struct pollfd fds[3 * MOST_JOBS + 1];
    int count = 0, timeout = -1;
    pthread_mutex_lock(&jobs->lock);
    fds[count++] = (struct pollfd){.fd = jobs->wake, .events = POLLIN};
    for (int i = 0; i < MOST_JOBS; i++) {
        struct job *job = &jobs->jobs[i];
        if (!job->used)
            continue;
        for (int k = 0; k < 2; k++)
            fds[count++] = (struct pollfd){.fd = job->outputs[k].fd, .events = POLLIN};
        fds[count++] = (struct pollfd){.fd = job->watch, .events = POLLIN};
        if (job->watch < 0 || jobs->quit)
            timeout = SLICE_MS;
        if (job->stops > job->stops_passed)
            job_stop(job);
        if (jobs->quit && !job->asked)
            kill(job->pid, SIGTERM); /* not the group: a supervisor passes it on */
        job->asked = job->asked || jobs->quit;
        if (*since > 0 && now_ms() - *since > PATIENCE_MS)
            kill(-job->pid, SIGKILL);
    }
    bool goes_on = !jobs->quit || jobs->running > 0;
    *since = jobs->quit && *since == 0 ? now_ms() : *since;
    pthread_mutex_unlock(&jobs->lock);
    uint64_t unused;
    if (goes_on && poll(fds, (nfds_t)count, timeout) > 0 && fds[0].revents &&
        read(jobs->wake, &unused, sizeof unused) < 0)
        return goes_on; /* somebody else took it */
    return goes_on;
}

static void *jobs_main(void *argument)
{
    struct tui_jobs *jobs = argument;
    int64_t since = 0;
    while (jobs_wait(jobs, &since))
        jobs_look(jobs);
    return NULL;
}

static void jobs_wake(struct tui_jobs *jobs)
{
    uint64_t one = 1;
    while (write(jobs->wake, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

static void jobs_free(struct tui_jobs *jobs)
{
    descriptor_close(&jobs->wake);
    pthread_mutex_destroy(&jobs->lock);
    free(jobs->program);
    free(jobs->database);
    free(jobs);
}

enum mgb_status tui_jobs_open(struct tui_jobs **out, const struct tui_jobs_options *options)
{
    struct tui_jobs *jobs = calloc(1, sizeof *jobs);
    if (!jobs)
        return mgb_fail(MGB_NO_MEMORY, "commands beside the screen: memory is exhausted");
    jobs->ended = options->ended;
    jobs->context = options->context;
    jobs->columns = options->columns;
    pthread_mutex_init(&jobs->lock, NULL);
    for (int i = 0; i < MOST_JOBS; i++)
        jobs->jobs[i].watch = -1;
    jobs->program = options->program ? strdup(options->program) : NULL;
    jobs->database = options->database ? strdup(options->database) : NULL;
    jobs->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool good = jobs->wake >= 0 && (!options->program || jobs->program) &&
                (!options->database || jobs->database) &&
                mgb_thread_start(&jobs->thread, "jobs", jobs_main, jobs) == 0;
    if (!good) {
        jobs_free(jobs);
        return mgb_fail(MGB_NO_MEMORY, "commands beside the screen: no thread for them");
    }
    *out = jobs;
    return MGB_OK;
}

void tui_jobs_end(struct tui_jobs *jobs)
{
    if (!jobs)
        return;
    pthread_mutex_lock(&jobs->lock);
    jobs->quit = true;
    pthread_mutex_unlock(&jobs->lock);
    jobs_wake(jobs);
}

void tui_jobs_close(struct tui_jobs *jobs)
{
    if (!jobs)
        return;
    tui_jobs_end(jobs);
    pthread_join(jobs->thread, NULL);
    jobs_free(jobs);
}

void tui_jobs_set_columns(struct tui_jobs *jobs, int columns)
{
    pthread_mutex_lock(&jobs->lock);
    jobs->columns = columns;
    pthread_mutex_unlock(&jobs->lock);
}

int tui_jobs_running(struct tui_jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    int running = jobs->running;
    pthread_mutex_unlock(&jobs->lock);
    return running;
}

/* Jobs that run, or those of them that were asked to stop; each is asked once more if `ask`. */
static int jobs_count(struct tui_jobs *jobs, char *line, size_t size, bool ask)
{
    int count = 0;
    pthread_mutex_lock(&jobs->lock);
    for (int i = 0; i < MOST_JOBS; i++) {
        struct job *job = &jobs->jobs[i];
        if (!job->used || !job->line || (!ask && !job->stops))
            continue;
        job->stops += ask;
        snprintf(line, size, "%s", job->line);
        count++;
    }
    pthread_mutex_unlock(&jobs->lock);
    return count;
}

int tui_jobs_stop(struct tui_jobs *jobs, char *line, size_t size)
{
    int count = jobs_count(jobs, line, size, true);
    if (count > 0)
        jobs_wake(jobs);
    return count;
}

int tui_jobs_stopping(struct tui_jobs *jobs, char *line, size_t size)
{
    return jobs_count(jobs, line, size, false);
}

/* With the lock held. */
static enum mgb_status job_start(struct tui_jobs *jobs, const struct job_words *words,
                                 const char *line)
{
    struct job *job = NULL;
    for (int i = 0; i < MOST_JOBS && !job; i++)
        if (!jobs->jobs[i].used)
            job = &jobs->jobs[i];
    if (!job)
        return mgb_fail(MGB_BUSY, "%s: %d commands are running already", line, MOST_JOBS);
    int fds[2];
    char *copy = strdup(line);
    if (!copy)
        return mgb_fail(MGB_NO_MEMORY, "%s: memory is exhausted", line);
    enum mgb_status status = tui_job_spawn(&job->pid, fds, words, jobs->columns);
    if (status != MGB_OK) {
        free(copy);
        return status;
    }
    job->line = copy;
    job->outputs[0] = (struct output){.fd = fds[0]};
    job->outputs[1] = (struct output){.fd = fds[1]};
    job->watch = tui_job_watch(job->pid);
    job->asked = false;
    job->stops = job->stops_passed = 0;
    job->used = true;
    jobs->running++;
    return MGB_OK;
}

enum mgb_status tui_jobs_start(struct tui_jobs *jobs, char *const *words, int count,
                               const char *line)
{
    if (!jobs->program)
        return mgb_fail(MGB_MISSING, "%s: there is no program mgbench beside this one, nor on PATH",
                        line);
    struct job_words all = {jobs->program, jobs->database, words, count};
    pthread_mutex_lock(&jobs->lock);
    enum mgb_status status = job_start(jobs, &all, line);
    pthread_mutex_unlock(&jobs->lock);
    if (status == MGB_OK)
        jobs_wake(jobs);
    return status;
}
