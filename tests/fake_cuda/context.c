/* Switches between stacks. swapcontext saves the mask of signals too, by two system calls each time, which is most of what
 * a kernel with barriers costs; where we have nothing of our own it serves. */
#include "tests/fake_cuda/context.h"

#if defined(__x86_64__)

/* System V ABI, AMD64, 3.2.1: what a function must leave as it was are these six registers and the stack pointer. */
__asm__(".text\n"
        ".p2align 4\n"
        ".type fake_stack_switch, @function\n"
        "fake_stack_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size fake_stack_switch, .-fake_stack_switch\n");
void fake_stack_switch(void **from, void *to) __attribute__((visibility("hidden")));

void fake_context_make(struct fake_context *context, char *stack, size_t bytes, void (*main)(void))
{
    void **top = (void **)(void *)(stack + bytes / 16 * 16);
    *--top = NULL; /* whom `main` would return to, and what makes its stack odd as a call does */
    *--top = (void *)main;
    for (int i = 0; i < 6; i++)
        *--top = NULL;
    context->stack = top;
}

void fake_context_switch(struct fake_context *from, struct fake_context *to)
{
    fake_stack_switch(&from->stack, to->stack);
}

#else

void fake_context_make(struct fake_context *context, char *stack, size_t bytes, void (*main)(void))
{
    getcontext(&context->saved);
    context->saved.uc_stack.ss_sp = stack;
    context->saved.uc_stack.ss_size = bytes;
    context->saved.uc_link = NULL;
    makecontext(&context->saved, main, 0);
}

void fake_context_switch(struct fake_context *from, struct fake_context *to)
{
    swapcontext(&from->saved, &to->saved);
}

#endif
