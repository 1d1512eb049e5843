/* See child.h. */
#include "tests/support/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void child_start(struct child *out, int (*body)(struct child *parent, void *context), void *context)
{
    int down[2], up[2];
    if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
        abort();
    pid_t pid = fork();
    if (pid < 0)
        abort();
    if (pid == 0) {
        struct child parent = {.pid = getppid(), .from = down[0], .to = up[1]};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGPIPE, SIG_IGN);
        close(down[1]);
        close(up[0]);
        _exit(body(&parent, context));
    }
    close(down[0]);
    close(up[1]);
    *out = (struct child){.pid = pid, .from = up[0], .to = down[1]};
}

void child_say(const struct child *other, char letter)
{
    while (write(other->to, &letter, 1) < 0 && errno == EINTR)
        continue;
}

char child_hear(const struct child *other)
{
    char letter = 0;
    ssize_t size;
    while ((size = read(other->from, &letter, 1)) < 0 && errno == EINTR)
        continue;
    return size == 1 ? letter : 0;
}

int child_end(struct child *child)
{
    int code = 0;
    close(child->to);
    while (waitpid(child->pid, &code, 0) < 0 && errno == EINTR)
        continue;
    close(child->from);
    return WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
}
