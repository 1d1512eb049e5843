/* Inside of app/session: how a session becomes rows of the database. A store that cannot write is no failure of the run:
 * statuses here are about the record. */
#ifndef APP_SESSION_ROWS_H
#define APP_SESSION_ROWS_H

#include "app/session/private.h"

/* record.c: what is stored when a run or a segment begins and ends. Statuses are about the record, never about the run;
 * a store that cannot write is no failure. */
enum mgb_status mgb_session_begin_run(struct script_session *session,
                                      const struct script_open_request *request);
enum mgb_status mgb_session_begin_segment(struct script_session *session);
enum mgb_status mgb_session_finish_segment(struct script_session *session, enum mgb_outcome outcome,
                                           const char *message);
enum mgb_status mgb_session_finish_run(struct script_session *session, enum mgb_outcome outcome,
                                       const char *message);
/* replicas.c: 1 or 0, whether all copies of the weights are alike to the bit; unknown where the strategy keeps none. */
struct mgb_maybe_int mgb_session_compare_replicas(struct script_session *session);
/* How often a step of the segment waited for the record. */
int64_t mgb_session_ring_waits(const struct script_session *session);
/* A run that never got a session: out of memory or an error while opening. Returns its id, 0 when not recorded. */
int64_t mgb_session_record_refused(struct mgb_hub *hub, const struct script_open_request *request,
                                   enum mgb_outcome outcome, const char *message);

/* push.c: what a step leaves in the record beside its own row, which is `record`; the process' memory now. */
void mgb_session_push_step(struct script_session *session, const struct mgb_record *record,
                           const struct mgb_step_result *result);
void mgb_session_push_sample(struct script_session *session, int64_t now);

/* describe.c */
struct session_description {
    char machine[64], key[24], cpu[96], os[96], kernel[96], digest[24];
    char environment[8192], versions[512], driver[32];
    struct mgb_record_machine machine_row;
    struct mgb_record_model model_row;
    struct mgb_record_run run_row;
    struct mgb_record_device devices[64];
    char names[64][MGB_DEVICE_NAME_MAX];
    struct mgb_record_link links[17 * 16]; /* every way between /cpu:0 and 16 GPUs */
    char link_names[17 * 16][2][MGB_DEVICE_NAME_MAX];
};
/* `topology` may be NULL (nothing was opened). */
void mgb_session_describe(struct session_description *out, const struct mgb_hub *hub,
                          const struct script_open_request *request,
                          const struct mgb_topology *topology, const char *backend);

/* What machines of one kind have in common, as machine.cpu and machine.threads. */
void mgb_session_machine_kind(char *cpu, size_t size, int64_t *threads);

/* As machine.key of the machine this runs on. */
void mgb_session_machine_key(char *out, size_t size);

/* environment.c: JSON of what can change figures, as run.environment. `topology` as in mgb_session_describe. */
void mgb_session_environment(char *out, size_t size, const struct mgb_topology *topology);

/* links.c: measures links in use that the database knows no figures of and adds them to the machine's row. What it finds failed
 * for good (MGB_TIMEOUT, MGB_DEVICE) it tells; else it is well without. */
enum mgb_status mgb_session_describe_links(struct session_description *out,
                                           struct script_session *session);

/* peak.c: the same for what CPU devices compute at best; each has the machine's cores. */
enum mgb_status mgb_session_describe_peak(struct session_description *out,
                                          struct script_session *session);

/* warn.c: remarks for people by their names, kept as notes of the run. */
void mgb_session_warn(struct script_session *session, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Towers share cores. */
void mgb_session_warn_crowded(struct script_session *session);
/* Towers with one row where a batch norm has one value a row: a variance of 0. Once a placement. */
void mgb_session_warn_one_row(struct script_session *session);
/* warn_gpus.c: ways between GPUs that peer access does not serve well; GPUs that differ by a quarter. Once a session. */
void mgb_session_warn_paths(struct script_session *session);
void mgb_session_warn_unlike(struct script_session *session);
/* The loss is no longer a number. */
void mgb_session_warn_diverged(struct script_session *session);
/* At the end of a segment: devices on which no tower's forward pass took any time. */
void mgb_session_warn_idle(struct script_session *session);
/* At the end of a segment: steps that changed no weights. */
void mgb_session_warn_overflow(struct script_session *session);
/* At the end of a segment that came to its end: what its figures cannot be trusted for. */
void mgb_session_warn_figures(struct script_session *session);
/* What the recorder has to say of its file, such as who keeps its log from shrinking; told again when it changes. */
void mgb_session_warn_file(struct script_session *session);
void mgb_session_count_idle(struct script_session *session); /* starts over */

/* placement_record.c: rows of both placements; texts live in `texts`. */
struct session_placement_texts {
    char text[MGB_OPTION_COUNT][256];
    char list[1024];
};
void mgb_session_placement_asked(struct mgb_record_placement *out,
                                 struct session_placement_texts *texts,
                                 const struct mgb_placement *asked);
void mgb_session_placement_effective(struct mgb_record_placement *out,
                                     struct session_placement_texts *texts,
                                     const struct mgb_effective *effective,
                                     const struct mgb_topology *topology);

/* holdings.c: memory, traffic, variables and duplicates of the segment in force. */
void mgb_session_record_holdings(struct script_session *session);
/* Memory and traffic once more, with what was measured; while the segment's placement is still in force. */
void mgb_session_record_measured(struct script_session *session);

/* traced.c: what traced steps held; those not stored yet. After each step the second one, which stores when there is so
 * much of it that memory would grow. */
void mgb_session_record_traced(struct script_session *session);
void mgb_session_spill_traced(struct script_session *session);
/* At the end of a segment: tracing made steps slower that count. */
void mgb_session_warn_traced(struct script_session *session);

#endif
