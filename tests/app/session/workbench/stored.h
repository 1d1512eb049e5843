/* Runs of several segments for tests of what looks at them, and waiting for a thread that tells when it has news. */
#ifndef TESTS_APP_SESSION_WORKBENCH_STORED_H
#define TESTS_APP_SESSION_WORKBENCH_STORED_H

#include "tests/support/check.h"

#include "db/draw.h"
#include "db/store.h"
#include "tests/support/database.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct news { /* of a thread: given as its `changed` and context */
    sem_t posted;
    atomic_int count;
};

static inline void news_tell(void *context)
{
    struct news *news = context;
    atomic_fetch_add(&news->count, 1);
    sem_post(&news->posted);
}

static inline void news_init(struct news *news)
{
    sem_init(&news->posted, 0, 0);
    atomic_init(&news->count, 0);
}

/* Until the next one; the test fails after half a minute without. */
static inline void news_await(struct news *news)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    if (sem_timedwait(&news->posted, &until) != 0)
        fail_msg("nothing was told for half a minute");
}

/* Steps `first`.. of a segment: `ns` a step, spread by 0.2 %, `warm` of them warm-up and thrice as long. */
static inline void stored_steps(struct mgb_store *store, const struct mgb_record_segment *record,
                                int64_t segment, int64_t first, int count, int warm, int64_t ns)
{
    struct mgb_record steps[256];
    for (int i = 0; i < count; i++) {
        int64_t spread = (int64_t)(mgb_draw_at(7, (uint64_t)segment, (uint64_t)(first + i)) % 41);
        steps[i] = database_step(segment, first + i);
        steps[i].step.examples = record->effective.global_batch.value;
        steps[i].step.wall_ns = (ns + ns / 10000 * (spread - 20)) * (i < warm ? 3 : 1);
        steps[i].step.start_ns = (first + i) * 4 * ns;
        steps[i].step.warmup = i < warm;
    }
    assert_ok(mgb_store_put_steps(store, steps, (size_t)count));
}

static inline int64_t stored_segment(struct mgb_store *store,
                                     const struct mgb_record_segment *record, int64_t first,
                                     int count, int warm, int64_t ns)
{
    int64_t segment;
    struct mgb_record_segment at = *record;
    at.first_step = first;
    assert_ok(mgb_store_begin_segment(&segment, store, &at));
    stored_steps(store, &at, segment, first, count, warm, ns);
    return segment;
}

static inline void stored_end(struct mgb_store *store, int64_t segment)
{
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
}

/* A finished run of one segment; returns the segment. */
static inline int64_t stored_run(struct mgb_store *store, const struct mgb_record_run *begin,
                                 struct mgb_record_segment record, int count, int64_t ns)
{
    int64_t run;
    assert_ok(mgb_store_begin_run(&run, store, begin));
    record.run = run;
    int64_t segment = stored_segment(store, &record, 0, count, 0, ns);
    stored_end(store, segment);
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    return segment;
}

#endif
