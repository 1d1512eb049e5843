/* Traced steps of one segment: which ones are traced, and boiled down: busy time a link, measured peak a category of
 * memory, what was held when, texts for the rows of tasks. Knows plans and task times only, neither sessions nor rows. */
#ifndef APP_SESSION_TRACE_H
#define APP_SESSION_TRACE_H

#include <mgb/record.h>
#include <mgb/run.h>

struct session_live { /* of one device the plan uses */
    int64_t peak[MGB_MEMORY_CATEGORY_COUNT];
};

struct session_held { /* what a device held from a moment of a step on, of one category */
    int64_t step, at_ns, bytes;
    int device;
    enum mgb_memory_category category;
};
struct session_held_list {
    struct session_held *at;
    size_t count, capacity;
};

/* Texts of a plan's tasks by their flat number, as ring records may borrow them until the segment is finished. */
struct session_task_texts {
    struct session_task_texts *next;
    int rows, count;   /* global rows of the plan, flat tasks */
    const char **name; /* copies: a plan of a short last batch may go before its rows are stored */
    const char **waits_for; /* JSON arrays */
    char *memory;           /* of all of them */
};

enum { MOST_SPEEDS = 64 };
struct session_speeds { /* wall times of the newest timed steps, in a ring */
    int64_t count, ns[MOST_SPEEDS];
};

struct session_trace {
    const struct mgb_plan *plan; /* of the full step; borrowed while the segment lasts */
    int64_t warmup;              /* steps of the segment before the timed ones */
    int64_t own_step;            /* of the segment, traced unasked; -1: none */
    int64_t first, last;         /* of the segment, traced because asked for; first > last: none */
    int64_t steps;               /* traced full steps so far */
    int64_t *link_ns;            /* by index into plan->traffic, sum over them */
    struct session_live *live;   /* by index into plan->uses, most of all of them */
    bool measured;
    struct session_held_list held; /* of steps not stored yet */
    struct session_task_texts *texts;
    struct session_speeds traced, untraced;
};

/* Starts over for a segment. Memory that cannot be had leaves figures unknown. */
void mgb_session_trace_begin(struct session_trace *trace, const struct mgb_plan *plan,
                             int64_t warmup);
/* There is no warm-up, and no step is another one for being traced: it is the segment's first. After begin. */
void mgb_session_trace_simulated(struct session_trace *trace);
void mgb_session_trace_done(struct session_trace *trace);
/* Timed steps `first` to `last` of the segment, from 0, are to be traced; first > last: none. */
void mgb_session_trace_ask(struct session_trace *trace, int64_t first, int64_t last);
/* How many steps after the first `done` ones of the segment are alike: *traced says how. At least 1. */
int64_t mgb_session_trace_alike(const struct session_trace *trace, int64_t done, bool *traced);
/* Takes a step in. Links and peaks leave out those that played another plan: remainders move other numbers of bytes. */
void mgb_session_trace_add(struct session_trace *trace, const struct mgb_step_result *result,
                           bool warmup);
/* Mean busy time of plan->traffic[traffic] a step by copies. */
struct mgb_maybe_int mgb_session_trace_link(const struct session_trace *trace, int traffic);
struct mgb_maybe_int mgb_session_trace_peak(const struct session_trace *trace, int use,
                                            enum mgb_memory_category category);
/* By how much of their time timed steps that were traced took longer than the others of the segment, by medians; 0 when
 * too few of either are known, or when of the others one in ten was as slow. */
double mgb_session_trace_cost(const struct session_trace *trace);

/* trace_texts.c: of a plan that the segment plays, made when first asked for; NULL when there is no memory. */
const struct session_task_texts *mgb_session_task_texts(struct session_trace *trace,
                                                        const struct mgb_plan *plan);
void mgb_session_task_texts_free(struct session_task_texts *texts);

/* live.c: raises `live` (by index into the plan's uses; NULL: not wanted) to what a traced step held, and adds to `held`
 * what it held when: a buffer of the step arena from the start of the first task that touches it to the end of the last
 * one, by the clock; one that lasts throughout. False when there is no memory to find out. */
bool mgb_session_live_add(struct session_live *live, struct session_held_list *held,
                          const struct mgb_step_result *result);

#endif
