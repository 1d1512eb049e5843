/* Processes that a test starts and talks with, a letter at a time, so that nothing has to be timed. */
#ifndef TESTS_SUPPORT_CHILD_H
#define TESTS_SUPPORT_CHILD_H

#include <sys/types.h>

struct child {
    pid_t pid;
    int from, to; /* the other side's letters, ours */
};

/* Its exit code is what `body` returns; it dies with the test. Start children before threads and connections. */
void child_start(struct child *out, int (*body)(struct child *parent, void *context),
                 void *context);
void child_say(const struct child *other, char letter);
/* 0: the other side is gone. */
char child_hear(const struct child *other);
/* Waits for its end; returns its exit code, or 128 and the signal's number. */
int child_end(struct child *child);

#endif
