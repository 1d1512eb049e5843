/* A made-up bench for tests of views: inception_v3 on GPUs, two segments with figures, everything filled in. Everything
 * lies in one struct, so that a test can change any of it before it draws; dropping the snapshot frees it. */
#ifndef TESTS_APP_TUI_FIXTURE_H
#define TESTS_APP_TUI_FIXTURE_H

#include "app/tui/desk.h"

enum {
    FIXTURE_MOST_GPUS = 64,
    FIXTURE_LINKS = 2 * FIXTURE_MOST_GPUS + 16,
    FIXTURE_VARIABLES = 40,
    FIXTURE_TASKS = FIXTURE_MOST_GPUS * 8 + 16,
    FIXTURE_CELLS = 6,
    FIXTURE_RUNS = 60
};

struct fixture {
    struct mgb_snapshot snapshot; /* the first member: dropping it frees all */
    struct mgb_facts facts;
    struct mgb_facts_device devices[FIXTURE_MOST_GPUS + 1]; /* /cpu:0, then the GPUs */
    struct mgb_facts_link links[FIXTURE_LINKS];
    struct mgb_facts_variable variables[FIXTURE_VARIABLES];
    char names[FIXTURE_VARIABLES][2][32];
    struct mgb_facts_task tasks[FIXTURE_TASKS];
    struct mgb_pressed pressed;
    struct mgb_bench_history history;
    struct mgb_bench_traced traced;
    struct mgb_bench_task traced_tasks[FIXTURE_TASKS];
    struct mgb_bench_sweep sweep;
    struct mgb_bench_cell cells[FIXTURE_CELLS];
};

/* Running, third segment, with so many GPUs and as many towers. NULL: no memory. */
struct fixture *fixture_make(int gpus);
void fixture_free(struct fixture *fixture);

/* The same as an immutable snapshot, to be dropped with mgb_shared_drop. */
const struct mgb_snapshot *fixture_snapshot(int gpus);

/* Changes of it, to be combined. */
void fixture_set_empty(struct fixture *fixture);      /* no model */
void fixture_set_ready(struct fixture *fixture);      /* planned, not opened */
void fixture_set_warmup(struct fixture *fixture);     /* the segment's first steps */
void fixture_set_long_names(struct fixture *fixture); /* and bytes that no terminal may see */
void fixture_set_unknown(struct fixture *fixture);    /* NaN and -1 wherever that can be */
void fixture_set_host(struct fixture *fixture);       /* CPU devices instead of GPUs */

/* A list of FIXTURE_RUNS segments, to be dropped with mgb_shared_drop. */
const struct mgb_list *fixture_list(void);

/* Fills a scene that shows the fixture; nothing is pending. */
void fixture_scene(struct tui_scene *out, const struct fixture *fixture);

/* A desk that does nothing but remember what it was asked for, and can answer menus and prompts. */
struct fixture_desk {
    struct tui_desk desk;
    int asked, said, listed, commanded, shown, went, acted, prompted, confirmed, menus;
    struct mgb_wish wish; /* the last one; its text is wish_text */
    char wish_text[2000];
    enum mgb_line_kind said_kind;
    char said_text[600], command[9000], title[160], question[200], initial[400];
    char shown_text[8000];
    struct mgb_list_request request;
    char request_filter[200];
    enum tui_place place;
    enum tui_action action;
    struct tui_choice choices[300];
    int choice_count, chosen;
    tui_answer *answer; /* of the newest prompt, question or menu */
    void *answer_context;
};
void fixture_desk_init(struct fixture_desk *out);
/* Answers the newest prompt, question or menu; NULL gives up. Fails the test when there is none. */
void fixture_desk_answer(struct fixture_desk *desk, const char *text);

#endif
