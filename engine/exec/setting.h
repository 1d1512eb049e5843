/* Settings: what was prepared for one effective placement (and optimizer): its plans made into programs. The recently used
 * ones are kept, so that toggling back costs no planning. */
#ifndef MGB_EXEC_SETTING_H
#define MGB_EXEC_SETTING_H

#include "engine/exec/program.h"

struct mgb_setting {
    struct mgb_effective effective; /* owned */
    struct mgb_optimizer optimizer;
    uint64_t trainable;                        /* digest of which variables are frozen */
    mgb_vector(struct mgb_program *) programs; /* the first is that of the full step */
    int64_t used;                              /* when last: larger is later */
};

struct mgb_settings {
    struct mgb_site *site;                  /* NULL: plans are played in virtual time */
    const struct mgb_virtual *play_virtual; /* or this is NULL */
    const struct mgb_topology *topology;
    const struct mgb_graph *graph;
    struct mgb_fact_source facts;
    mgb_vector(struct mgb_setting *) list;
    int64_t clock;
};

void mgb_settings_init(struct mgb_settings *out, struct mgb_site *site,
                       const struct mgb_graph *graph);
void mgb_settings_init_virtual(struct mgb_settings *out, const struct mgb_virtual *play_virtual,
                               const struct mgb_topology *topology, const struct mgb_graph *graph);
void mgb_settings_done(struct mgb_settings *settings);
/* The setting for this placement, kept or new, with its full step prepared. Takes `effective` over in any case. Frees the
 * least recently used ones beyond a few, never `current`. */
enum mgb_status mgb_settings_get(struct mgb_settings *settings, struct mgb_setting **out,
                                 struct mgb_effective *effective,
                                 const struct mgb_optimizer *optimizer,
                                 const struct mgb_setting *current);
/* Another choice between replaying steps or failing, and replaying while they can be. */
void mgb_setting_set_graph(struct mgb_setting *setting, enum mgb_choice graph);
/* The program of this kind for so many rows, made when there is none and admitted to the devices' memory. */
enum mgb_status mgb_setting_program(struct mgb_settings *settings, struct mgb_setting *setting,
                                    struct mgb_program **out, enum mgb_plan_kind kind, int rows);
/* Without making one: NULL when there is none. */
struct mgb_program *mgb_setting_find(const struct mgb_setting *setting, enum mgb_plan_kind kind,
                                     int rows);
/* Frees the programs of this kind for other numbers of rows than these two and the full step's. */
void mgb_setting_trim(struct mgb_setting *setting, enum mgb_plan_kind kind, int rows, int rest);
const struct mgb_plan *mgb_setting_plan(const struct mgb_setting *setting);
void mgb_setting_unbind(struct mgb_setting *setting);
/* Bytes of the step arena that all its programs can share. */
int64_t mgb_setting_step_bytes(const struct mgb_setting *setting, int device);
/* Other numbers for an optimizer that the setting serves. */
void mgb_setting_set_optimizer(struct mgb_setting *setting, const struct mgb_optimizer *optimizer);
/* The setting is for just that placement and an optimizer of that kind, slots and clipping. */
bool mgb_setting_serves(const struct mgb_setting *setting, const struct mgb_effective *effective,
                        const struct mgb_optimizer *optimizer, const struct mgb_graph *graph);

#endif
