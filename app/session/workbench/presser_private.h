/* Inside of the presser: one file knows which rows there are and when to ask whom, one finds out what one row changes. */
#ifndef APP_SESSION_WORKBENCH_PRESSER_PRIVATE_H
#define APP_SESSION_WORKBENCH_PRESSER_PRIVATE_H

#include "app/session/preview.h"
#include "app/session/workbench/presser.h"

/* What a row is held against. */
struct presser_base {
    const struct mgb_facts *facts;
    const struct script_open_request *request;
    struct mgb_preview *preview; /* of the placement in force */
    bool open;                   /* it holds memory: a change moves weights out of it */
};

/* presser_row.c: fills in all but what stored segments say; `lookup` asks for that, without columns when there is nothing to
 * be asked. */
void mgb_presser_row_find(struct mgb_pressed_row *row, struct mgb_lookup *lookup,
                          const struct presser_base *base);

/* presser_batch.c */
struct presser_search {
    int64_t next;        /* the batch for each GPU to be tried; 0: it is over, or not wanted */
    int64_t fits, fails; /* so far; 0: none */
};
/* Wanted where some device in use has a memory limit. */
void mgb_presser_search_begin(struct presser_search *search, const struct mgb_preview *preview);
void mgb_presser_search_work(struct presser_search *search,
                             const struct script_open_request *request);

/* The columns of a placement in effect. */
void mgb_presser_lookup_fill(struct mgb_lookup *lookup, const struct mgb_facts *facts,
                             const struct mgb_preview *next);

#endif
