/* Where the execution of a stack stands while another one runs. */
#ifndef FAKE_CONTEXT_H
#define FAKE_CONTEXT_H

#include <stddef.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

struct fake_context {
#if defined(__x86_64__)
    void *stack;
#else
    ucontext_t saved;
#endif
};

/* Entered for the first time it begins with `main`, which must not return. `stack` is aligned as malloc aligns. */
void fake_context_make(struct fake_context *context, char *stack, size_t bytes, void (*main)(void));
/* Leaves off here, to go on when something switches to `from`. */
void fake_context_switch(struct fake_context *from, struct fake_context *to);

#endif
