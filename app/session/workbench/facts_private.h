/* How facts are put together: one file a kind of thing. */
#ifndef APP_SESSION_WORKBENCH_FACTS_PRIVATE_H
#define APP_SESSION_WORKBENCH_FACTS_PRIVATE_H

#include "app/session/workbench/facts.h"
#include "app/session/workbench/pool.h"

struct facts_work {
    struct mgb_facts *facts;
    struct mgb_bench_pool *pool; /* that memory cannot be had shows in it */
    const struct mgb_facts_request *request;
};

/* facts_devices.c */
void mgb_facts_add_devices(struct facts_work *work);
enum mgb_status mgb_facts_add_links(struct facts_work *work);
/* facts_variables.c: with the variable check. */
enum mgb_status mgb_facts_add_variables(struct facts_work *work);
/* facts_tasks.c */
enum mgb_status mgb_facts_add_tasks(struct facts_work *work);
/* facts_words.c: options and title. */
void mgb_facts_add_options(struct facts_work *work);
void mgb_facts_add_title(struct facts_work *work);

#endif
