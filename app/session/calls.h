/* Inside of app/session: what its files offer each other, most of it as services. */
#ifndef APP_SESSION_CALLS_H
#define APP_SESSION_CALLS_H

#include "app/script/services.h"

struct mgb_hub;
struct mgb_reader;

/* session.c: the services of one session. */
enum mgb_status mgb_session_open(void *context, struct script_session **out,
                                 const struct script_open_request *request);
void mgb_session_close(struct script_session *session);
void mgb_session_fail(struct script_session *session, const char *message);
enum mgb_status mgb_session_end(struct script_session *session);
enum mgb_status mgb_session_set(struct script_session *session, struct mgb_change *change,
                                const struct mgb_placement *placement, uint64_t fresh);
enum mgb_status mgb_session_evaluate(struct script_session *session, struct mgb_evaluation *out,
                                     const struct mgb_source *source);
struct mgb_run *mgb_session_engine(struct script_session *session);
bool mgb_session_played(struct script_session *session, struct mgb_sim_effort *out);

/* critical.c: for mgb.explain */
enum mgb_status mgb_hub_find_segment(void *context, int64_t *run, int64_t *segment,
                                     const char *words);
enum mgb_status mgb_hub_critical(void *context, struct script_path *out, int64_t segment,
                                 int64_t step);
void mgb_hub_critical_free(struct script_path *path);

/* traced.c */
void mgb_session_ask_trace(struct script_session *session, int64_t first, int64_t last);

/* step.c */
enum mgb_status mgb_session_step(struct script_session *session, struct script_figures *figures,
                                 struct script_losses *losses,
                                 const struct script_step_request *request);
/* figures.c: of the segment in force. The interval and what is judged of the steps together are renewed when there are a
 * sixteenth more of them (from 1,000 on a quarter, from 100,000 on twice as many), or if `exact`; all else is of every
 * step. */
void mgb_session_figures(struct script_figures *out, struct script_session *session, bool exact);

/* Stores the outcome "timeout" and ends the process by the hub's `die`. */
void mgb_session_die(struct script_session *session, const char *message);
/* Passes the status on; MGB_TIMEOUT, with its message, ends the process, for the device does not come back. */
enum mgb_status mgb_session_check_stuck(struct script_session *session, enum mgb_status status);

/* remark.c: "line [name]"; tells such a line unless its name is silenced. */
void mgb_remark_write(char *out, size_t size, const char *name, const char *line);
void mgb_hub_tell(const struct mgb_hub *hub, const char *name, const char *named);

/* compare.c: for mgb.compare */
enum mgb_status mgb_hub_compare(void *context, struct script_comparison *out,
                                const struct script_compare_request *request);

/* sweep.c and query.c */
enum mgb_status mgb_hub_sweep_find(void *context, bool *found, struct script_figures *out,
                                   const struct script_point *point);
/* The backend that "auto" comes to on this machine, found out once (NULL: none); `asked` when it names one. */
const char *mgb_hub_backend(struct mgb_hub *hub, const char *asked);
enum mgb_status mgb_hub_sweep_finish(void *context, const char *sweep);
/* hold.c: the results file for a whole sweep, as in services.h */
enum mgb_status mgb_hub_sweep_hold(void *context);
void mgb_hub_sweep_release(void *context);
/* Tells once that recording has stopped. */
void mgb_hub_warn_stopped(struct mgb_hub *hub);
struct mgb_recorder;
/* The recorder, opened at the first run; NULL when nothing is to be recorded. */
enum mgb_status mgb_hub_recorder(struct mgb_hub *hub, struct mgb_recorder **out);
enum mgb_status mgb_hub_sweep_point(struct mgb_hub *hub, int64_t run,
                                    const struct script_point *point);
/* forecast.c and sweep_judge.c: as in services.h */
enum mgb_status mgb_hub_forecast(void *context, struct script_forecast *out,
                                 const struct script_open_request *request);
enum mgb_status mgb_hub_largest_batch(void *context, int64_t *batch,
                                      const struct script_open_request *request);
enum mgb_status mgb_hub_judge(void *context, struct script_judged *out,
                              const struct script_judge_request *requests, int count);
enum mgb_status mgb_hub_rank(void *context, struct script_ranking *out,
                             const struct script_judge_request *cells, const char *const *labels,
                             int count);
enum mgb_status
mgb_hub_query(void *context, const char *sql, const char *const *parameters, int parameter_count,
              bool (*row)(void *, int, const char *const *, const char *const *, const int *),
              void *row_context);
enum mgb_status mgb_hub_reader(struct mgb_hub *hub, struct mgb_reader **out);

#endif
