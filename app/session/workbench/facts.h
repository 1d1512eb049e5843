/* What is known of a placement without running a step: devices, what lies on them, what moves between them, every option
 * as asked and in effect. Made once a segment, from an open session or, before anything is opened, from a preview; plain
 * data that keeps neither graph nor plan. All texts are owned by the facts; sizes are bytes. */
#ifndef APP_SESSION_WORKBENCH_FACTS_H
#define APP_SESSION_WORKBENCH_FACTS_H

#include "app/session/workbench/shared.h"

#include <mgb/check.h>
#include <mgb/placement.h>
#include <mgb/plan.h>

struct mgb_facts_device {
    char name[MGB_DEVICE_NAME_MAX], label[96], uuid[48], pci[24];
    enum mgb_device_class class;
    bool used;              /* by the plan */
    int tower_rows;         /* examples of its tower; 0: none runs there */
    int64_t capacity_bytes; /* 0: not limited */
    int64_t planned_bytes;  /* peak; 0: not in use */
    int64_t planned[MGB_MEMORY_CATEGORY_COUNT];
};

struct mgb_facts_link {
    int from, to;      /* indices into devices */
    int64_t bytes;     /* a step; 0: nothing moves there */
    double gbps;       /* measured peak, 1e9 bytes a second; 0: not known */
    double latency_us; /* 0: not known */
    bool there, peer;  /* in the topology; peer access possible */
};

struct mgb_facts_variable {
    const char *name, *shape; /* "dense/kernel", "3x3x32" */
    int64_t bytes;
    int device;
    const char *role; /* "master", "replica", "slot", "duplicate", "leftover"; static */
    const char
        *why; /* of a duplicate, of its slots, and of a leftover; NULL: it is meant to be there */
};

struct mgb_facts_task { /* a flat task of the plan, in issue order */
    const char *name;
    const char *kind; /* static */
    enum mgb_phase phase;
    int device, from; /* from: of a copy between devices, else -1 */
    int tower;        /* -1: the root's */
    bool copy_queue;  /* else the device's compute queue */
    int64_t bytes;
    int wait_count; /* how many tasks of other queues it waits for */
};

struct mgb_facts_option {
    char asked[96], effective[96]; /* "" : not given; no meaning under this strategy (parked) */
};

struct mgb_facts {
    struct mgb_shared shared;
    char model[64], data[96], backend[16], machine[64], remark[160], gave_way[256];
    char
        title[160]; /* of the placement: "outputs, weights cpu:0, towers meet gpu:0, 2 GPUs x 32" */
    bool simulated;
    struct mgb_placement asked;
    enum mgb_strategy strategy;
    enum mgb_batch_mode batch_mode;
    int gpus, batch_per_gpu, global_batch, threads;
    bool oversubscribed;
    struct mgb_facts_option options[MGB_OPTION_COUNT];

    int device_count, link_count, variable_count, task_count;
    struct mgb_facts_device *devices;
    struct mgb_facts_link *links;
    struct mgb_facts_variable *variables; /* every storage, masters first, in the graph's order */
    struct mgb_facts_task *tasks;         /* the first MGB_FACTS_MOST_TASKS of all_tasks */
    int64_t all_tasks;
    int64_t traffic_bytes; /* over all links, a step */
    double flops;          /* a step, all towers */

    /* The variable check. */
    int distinct_variables, duplicate_count, leftover_count;
    int64_t variable_bytes, duplicate_bytes, leftover_bytes; /* variable_bytes: distinct masters */
    void *memory;                                            /* owns arrays and texts */
};

enum { MGB_FACTS_MOST_TASKS = 20000 };

struct mgb_hub;

struct mgb_facts_request { /* all borrowed for the call */
    const char *model, *data, *backend, *remark;
    const struct mgb_graph *graph;
    const struct mgb_topology *topology;
    const struct mgb_placement *asked;
    const struct mgb_effective *effective;
    const struct mgb_plan *plan;
    struct mgb_hub *hub; /* its record is asked for speeds of links; NULL: it is not */
};

/* Freed with mgb_shared_drop. */
enum mgb_status mgb_facts_make(struct mgb_facts **out, const struct mgb_facts_request *request);

/* The row of a device; -1: none of that name. */
int mgb_facts_find_device(const struct mgb_facts *facts, const char *name);

#endif
