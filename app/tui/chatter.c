/* See chatter.h. A pipe takes the place of both descriptors; its reader does nothing but empty it, so that who prints never
 * waits for the screen, and keeps no more than a line at work and the newest for the end. */
#include "app/tui/chatter.h"

#include <mgb/thread.h>
#include "app/script/terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    LINE_BYTES = 4096, /* longer ones are cut up */
    LAST_LINES = 200,  /* told at the end */
    QUIET_MS = 500     /* a line without an end is taken when nothing more came for so long */
};

struct tui_chatter {
    struct tui_log *log;
    pthread_t thread;
    int pipe, stop;
    char line[LINE_BYTES + 1];
    size_t used;
    bool after_return; /* a '\n' that follows belongs to the line's end */
    char *last[LAST_LINES];
    long long count;
};

/* What 1 and 2 were; -1: they are as they were. Signal handlers read them. */
static volatile sig_atomic_t saved_out = -1, saved_err = -1;

static void line_end(struct tui_chatter *chatter)
{
    chatter->line[chatter->used] = '\0';
    chatter->used = 0;
    char **kept = &chatter->last[chatter->count++ % LAST_LINES];
    free(*kept);
    *kept = strdup(chatter->line);
    tui_log_add(chatter->log, MGB_LINE_OUTPUT, chatter->line);
}

/* A return without a line feed ends a line too: progress that libraries draw over and over. */
static void byte_take(struct tui_chatter *chatter, char byte)
{
    bool follows = chatter->after_return && byte == '\n';
    chatter->after_return = byte == '\r';
    if (follows)
        return;
    if (byte == '\n' || byte == '\r') {
        line_end(chatter);
        return;
    }
    if (chatter->used == LINE_BYTES)
        line_end(chatter);
    chatter->line[chatter->used++] = byte ? byte : ' ';
}

/* False: there is nothing more for now. */
static bool piece_take(struct tui_chatter *chatter)
{
    char bytes[16384];
    ssize_t size = read(chatter->pipe, bytes, sizeof bytes);
    for (ssize_t i = 0; i < size; i++)
        byte_take(chatter, bytes[i]);
    return size > 0 || (size < 0 && errno == EINTR);
}

/* At the end no more than a pipe holds: a child that prints on for ever keeps nobody. */
static void rest_take(struct tui_chatter *chatter)
{
    for (int i = 0; i < 64 && piece_take(chatter); i++)
        ;
    if (chatter->used > 0)
        line_end(chatter);
}

static void *pipe_empty(void *context)
{
    struct tui_chatter *chatter = context;
    for (;;) {
        struct pollfd fds[] = {{.fd = chatter->pipe, .events = POLLIN},
                               {.fd = chatter->stop, .events = POLLIN}};
        int ready = poll(fds, 2, chatter->used > 0 ? QUIET_MS : -1);
        if (ready == 0)
            line_end(chatter);
        if (ready > 0 && fds[1].revents)
            break;
        if (ready > 0 && fds[0].revents)
            piece_take(chatter);
    }
    rest_take(chatter);
    return NULL;
}

static bool descriptors_take(struct tui_chatter *chatter)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    chatter->pipe = ends[0];
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    int err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    bool taken = out >= 0 && err >= 0;
    if (taken) {
        fflush(NULL);
        saved_out = out;
        saved_err = err;
        taken = dup2(ends[1], STDOUT_FILENO) >= 0 && dup2(ends[1], STDERR_FILENO) >= 0;
        setvbuf(stdout, NULL, _IONBF, 0); /* else lines come when 4 KiB of them are there */
    }
    close(ends[1]);
    return taken;
}

void tui_chatter_rescue(void)
{
    if (saved_out >= 0)
        dup2(saved_out, STDOUT_FILENO);
    if (saved_err >= 0)
        dup2(saved_err, STDERR_FILENO);
}

static void descriptors_give_back(void)
{
    fflush(stdout);
    tui_chatter_rescue();
    if (saved_out >= 0)
        close(saved_out);
    if (saved_err >= 0)
        close(saved_err);
    saved_out = saved_err = -1;
}

static void chatter_free(struct tui_chatter *chatter)
{
    for (int i = 0; i < LAST_LINES; i++)
        free(chatter->last[i]);
    if (chatter->pipe >= 0)
        close(chatter->pipe);
    if (chatter->stop >= 0)
        close(chatter->stop);
    free(chatter);
}

enum mgb_status tui_chatter_begin(struct tui_chatter **out, struct tui_log *log, int *terminal)
{
    struct tui_chatter *chatter = *out = calloc(1, sizeof *chatter);
    if (!chatter)
        return mgb_fail(MGB_NO_MEMORY, "catching output: memory is exhausted");
    chatter->log = log;
    chatter->pipe = -1;
    chatter->stop = eventfd(0, EFD_CLOEXEC);
    int error = chatter->stop >= 0 && descriptors_take(chatter) ? 0 : errno;
    if (!error)
        error = mgb_thread_start(&chatter->thread, "chatter", pipe_empty, chatter);
    if (!error) {
        *terminal = saved_out;
        return MGB_OK;
    }
    descriptors_give_back();
    chatter_free(chatter);
    *out = NULL;
    return mgb_fail(MGB_IO, "catching the output of libraries: %s", strerror(error));
}

static void lines_tell(const struct tui_chatter *chatter)
{
    long long first = chatter->count > LAST_LINES ? chatter->count - LAST_LINES : 0;
    if (first > 0)
        mgb_say(stderr, "(%lld lines before these)\n", first);
    for (long long i = first; i < chatter->count; i++)
        if (chatter->last[i % LAST_LINES])
            mgb_say(stderr, "%s\n", chatter->last[i % LAST_LINES]);
}

void tui_chatter_end(struct tui_chatter *chatter)
{
    if (!chatter)
        return;
    descriptors_give_back();
    while (eventfd_write(chatter->stop, 1) != 0 && errno == EINTR)
        ;
    pthread_join(chatter->thread, NULL);
    lines_tell(chatter);
    chatter_free(chatter);
}
