/* A library that prints: preloaded into a program, it writes lines to both descriptors from a thread of its own, past all that
 * the program knows, from when the file named by MGB_CHATTY is there. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES = 300, WAIT_US = 2000 };

static void line_write(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0)
        return; /* nobody listens */
}

static void *chatter(void *path)
{
    char line[200];
    while (access(path, F_OK) != 0)
        usleep(WAIT_US);
    for (int i = 1; i <= LINES; i++) {
        snprintf(line, sizeof line, "chatty says %d of %d on %s\033[2J\033[1;1H\n", i, LINES,
                 i % 2 ? "output" : "error");
        line_write(i % 2 ? 1 : 2, line);
        usleep(WAIT_US);
    }
    line_write(2, "chatty is done\n");
    return NULL;
}

/* In whoever works: the child of the supervisor. */
static void begin(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, chatter, getenv("MGB_CHATTY")) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

__attribute__((constructor)) static void prepare(void)
{
    if (getenv("MGB_CHATTY"))
        pthread_atfork(NULL, NULL, begin);
}
