/* A growable array of any element type:
 *     mgb_vector(struct task) tasks = {0};
 *     if (!mgb_vector_push(&tasks, (struct task){...})) return mgb_fail(MGB_NO_MEMORY, ...);
 *     tasks.at[i], tasks.count; mgb_vector_done(&tasks); */
#ifndef MGB_BASE_VECTOR_H
#define MGB_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

#define mgb_vector(type)                                                                           \
    struct {                                                                                       \
        type *at;                                                                                  \
        int count, capacity;                                                                       \
    }

/* Makes room for `more` further elements; false when memory is exhausted. */
#define mgb_vector_reserve(v, more)                                                                \
    mgb_vector_grow_((void **)&(v)->at, &(v)->capacity, (v)->count, (more), sizeof *(v)->at)
#define mgb_vector_push(v, ...)                                                                    \
    (mgb_vector_reserve(v, 1) ? ((v)->at[(v)->count++] = (__VA_ARGS__), true) : false)
#define mgb_vector_done(v) mgb_vector_done_((void **)&(v)->at, &(v)->count, &(v)->capacity)

bool mgb_vector_grow_(void **at, int *capacity, int count, int more, size_t size);
void mgb_vector_done_(void **at, int *count, int *capacity);

#endif
