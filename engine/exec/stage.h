/* What a run's steps are played on. Whoever asks a run for steps does not know which of them it is. */
#ifndef MGB_EXEC_STAGE_H
#define MGB_EXEC_STAGE_H

#include <mgb/run.h>
#include <mgb/topology.h>

struct mgb_run;
struct mgb_setting;

/* The devices of a backend, or a virtual clock. All of it happens between steps, but `step`. */
struct mgb_stage {
    /* Devices are known before placement is resolved. */
    enum mgb_status (*find)(struct mgb_run *run, const struct mgb_run_options *options);
    /* Opens what is needed, plans and admits; takes `effective` over in any case. */
    enum mgb_status (*begin)(struct mgb_run *run, struct mgb_effective *effective);
    /* Before some steps: everything that they need. */
    enum mgb_status (*prepare)(struct mgb_run *run, const struct mgb_step_request *request);
    /* One batch: all of the result but what the position tells. */
    enum mgb_status (*step)(struct mgb_run *run, struct mgb_step_result *result,
                            struct mgb_batch_request batch, float lr, bool trace);
    /* To another placement or optimizer, from `run->setting`, which does not serve. Takes `effective` over. */
    enum mgb_status (*change)(struct mgb_run *run, struct mgb_change *change,
                              struct mgb_effective *effective,
                              const struct mgb_optimizer *optimizer);
    const char *(*name)(const struct mgb_run *run);
};
extern const struct mgb_stage mgb_stage_devices; /* run.c */
extern const struct mgb_stage mgb_stage_virtual; /* virtual.c */
/* virtual.c: the simulated devices, to be freed by mgb_topology_done. */
enum mgb_status mgb_virtual_topology(struct mgb_topology *out,
                                     const struct mgb_virtual *play_virtual);

/* set.c, step.c: the stage of devices */
enum mgb_status mgb_devices_prepare(struct mgb_run *run, const struct mgb_step_request *request);
enum mgb_status mgb_devices_step(struct mgb_run *run, struct mgb_step_result *result,
                                 struct mgb_batch_request batch, float lr, bool trace);
enum mgb_status mgb_devices_change(struct mgb_run *run, struct mgb_change *change,
                                   struct mgb_effective *effective,
                                   const struct mgb_optimizer *optimizer);
/* Plans and admits a change beside what is there; nothing is touched. Takes `effective` over. */
enum mgb_status mgb_run_plan_change(struct mgb_run *run, struct mgb_setting **out,
                                    struct mgb_effective *effective,
                                    const struct mgb_optimizer *optimizer);

#endif
