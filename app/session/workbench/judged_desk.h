/* Inside of the judge's desk: one file takes questions and gives answers, one is the thread that finds them. */
#ifndef APP_SESSION_WORKBENCH_JUDGED_DESK_H
#define APP_SESSION_WORKBENCH_JUDGED_DESK_H

#include "app/session/workbench/judged_private.h"
#include "app/session/workbench/results_file.h"

#include <pthread.h>
#include <stdatomic.h>

struct desk_pair {
    int64_t run, now, before, steps;
};

enum lookup_state { LOOKUP_WAITS, LOOKUP_READY, LOOKUP_TAKEN };

struct desk_lookup {
    struct mgb_lookup asked;
    struct mgb_looked_up answer;
    enum lookup_state state;
    bool blind; /* the segment in force had no figures: asked again when it has */
};

struct mgb_judge_desk {
    pthread_t thread;
    pthread_mutex_t lock; /* held for copies only */
    pthread_cond_t asked_cond;
    void (*changed)(void *context);
    void *context;
    struct mgb_results_file file; /* the thread's; path NULL: there is no thread */
    struct mgb_judged_base base;  /* the thread's */
    atomic_bool stop, abandon;    /* abandon: what is being worked on is of no use any more */

    struct desk_pair asked, judged; /* judged.now 0: nothing is */
    bool whole;                     /* no more steps than those asked about are coming */
    int64_t due_ns;                 /* of the next judging of the same segments */
    struct mgb_bench_answer answer; /* of `judged` */
    struct desk_lookup *lookups;
    int lookup_count;
    int64_t lookup_now;
    uint64_t lookup_version;
    struct mgb_stand_in stand_in; /* at.column_count 0: there is none */

    struct { /* the thread's: what was found for the stand-in of a version */
        uint64_t version;
        int64_t segment, run;
    } stands;
};

/* judged_thread.c; all but the thread itself with the lock held. */
void *mgb_desk_main(void *desk);
bool mgb_desk_is_of(const struct desk_pair *a, const struct desk_pair *b); /* the same segments */
/* There are enough more steps than were judged for another judging, now or later. */
bool mgb_desk_has_grown(const struct mgb_judge_desk *desk);
bool mgb_desk_is_due(const struct mgb_judge_desk *desk); /* what is asked is to be judged now */

#endif
