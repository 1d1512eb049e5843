/* What a script needs of its surroundings: sessions, the database, sweeps. A table of functions that app/session fills, so
 * that app/script sees neither threads nor SQLite, and its bindings can be tested against a fake.
 *
 * Why one session type for mgb.run and mgb.session: a run is a session with one segment. Why `record` is not here: what
 * is stored, when and how is the session's matter; a script only ever waits for it (step returns after the commit).
 *
 * Called from the script's thread only. Nothing here raises; statuses and messages as everywhere. */
#ifndef APP_SCRIPT_SERVICES_H
#define APP_SCRIPT_SERVICES_H

#include "app/script/services_run.h"
#include "app/script/services_sweep.h"
#include <mgb/sim.h>

struct script_session; /* opaque; app/session's */

struct script_services {
    void *context;
    bool restarted; /* this process took over after a crash: sweeps go on where it happened */

    /* MGB_OOM: the placement does not fit; the run row says so, nothing is held. */
    enum mgb_status (*open)(void *context, struct script_session **out,
                            const struct script_open_request *request);
    /* Ends the run (outcome "ok" unless something failed before) and frees everything. */
    void (*close)(struct script_session *session);
    /* The script failed while this was open: the run ends with outcome "error" and this message, unless something befell it
     * or it ended before. */
    void (*fail)(struct script_session *session, const char *message);
    /* Ends the run's record but keeps weights for evaluate, save, digest and check: what mgb.run does at its end. */
    enum mgb_status (*finish)(struct script_session *session);

    /* Returns after the commit of every step it reports. MGB_INTERRUPTED keeps what was done. */
    enum mgb_status (*step)(struct script_session *session, struct script_figures *figures,
                            struct script_losses *losses,
                            const struct script_step_request *request);
    /* Timed steps `first` to `last` of the segment in force, from 0, are to be traced when they come. */
    void (*trace)(struct script_session *session, int64_t first, int64_t last);
    /* One new segment if anything changed; refused: the old one stays in force. */
    enum mgb_status (*set)(struct script_session *session, struct mgb_change *change,
                           const struct mgb_placement *placement, uint64_t fresh);
    /* The engine's run, for what only reads: plan, check, digest, memory, effective placement. Borrowed; valid between
     * calls, because the session's thread is idle then. */
    struct mgb_run *(*engine)(struct script_session *session);
    /* The newest reading of a device's sensors, by its index in the run's topology; false: there was none. May be NULL. */
    bool (*sensed)(struct script_session *session, int device, struct mgb_sensed *out);
    /* What simulating took since the session was opened; false: it is not simulated. May be NULL. */
    bool (*played)(struct script_session *session, struct mgb_sim_effort *out);
    enum mgb_status (*evaluate)(struct script_session *session, struct mgb_evaluation *out,
                                const struct mgb_source *source);
    /* Between steps, noted in the record; may be NULL. A finished run can still be saved. Loading begins a new segment unless
     * this one is at its start. A refused one leaves everything as it was. */
    enum mgb_status (*save)(struct script_session *session, const char *path);
    enum mgb_status (*load)(struct script_session *session, const struct script_load *load);
    /* The newest figures (after step): of the segment in force. */
    enum mgb_status (*figures)(struct script_session *session, struct script_figures *out);

    /* Sweeps: is this point stored as done (finished or out of memory; crashed too when this process is a restart after a
     * crash)? Gives its figures, and enters the run as a point of the sweep as it is defined now, where that can be stored.
     * Finishing a sweep that stored nothing does nothing. */
    enum mgb_status (*sweep_find)(void *context, bool *found, struct script_figures *out,
                                  const struct script_point *point);
    enum mgb_status (*sweep_finish)(void *context, const char *sweep);
    /* Before each cell that runs: no other program writes to the results file until the release. MGB_BUSY: one does, the
     * message says which; MGB_IO: recording has stopped, and the sweep's purpose is its record. Both may be NULL. */
    enum mgb_status (*sweep_hold)(void *context);
    void (*sweep_release)(void *context);
    enum script_sweep_mode sweep_mode;
    /* NULL: nobody wants to know. */
    void (*cell)(void *context, const struct script_cell *cell);
    /* What opening `request` would come to; fails only where a run could not even be looked at. NULL with sessions that
     * are not the program's own. */
    enum mgb_status (*forecast)(void *context, struct script_forecast *out,
                                const struct script_open_request *request);
    /* The largest batch for each GPU of which the plan of `request` fits; 0: not even one example does. MGB_UNSUPPORTED:
     * nothing limits it. NULL with sessions that are not the program's own. */
    enum mgb_status (*largest_batch)(void *context, int64_t *batch,
                                     const struct script_open_request *request);
    /* Judges cells together (Holm over all with a base). NULL: no database. */
    enum mgb_status (*judge)(void *context, struct script_judged *out,
                             const struct script_judge_request *requests, int count);
    /* Which cell is the fastest, and whether by more than noise. Bases are not looked at. NULL without a database. */
    enum mgb_status (*rank)(void *context, struct script_ranking *out,
                            const struct script_judge_request *cells, const char *const *labels,
                            int count);
    /* One line of progress ("cell 3 of 12, gpus=2 batch=32, 41 s left"); shown on a terminal's stderr only. */
    void (*progress)(void *context, const char *line);
    /* A remark for people about what they may not have meant, by its name in mgb_remarks (app/session/hub.h), which may be
     * silenced; NULL: nobody wants one. */
    void (*remark)(void *context, const char *name, const char *line);
    /* The script is a sweep and stands at `point` ("sweep placement, point 12 of 48"): after a crash it may be started
     * again from the top. NULL: no longer. */
    void (*restartable)(void *context, const char *point);

    /* The one segment that `words` name ("12", "last", see db/select.h), and the critical path of a traced step. NULL: no
     * database. */
    enum mgb_status (*find_segment)(void *context, int64_t *run, int64_t *segment,
                                    const char *words);
    enum mgb_status (*critical)(void *context, struct script_path *out, int64_t segment,
                                int64_t step);
    void (*critical_free)(struct script_path *path);

    /* Read-only SQL; `row` is called for each row with `columns` texts (NULL for NULL) and types. */
    enum mgb_status (*query)(
        void *context, const char *sql, const char *const *parameters, int parameter_count,
        bool (*row)(void *row_context, int columns, const char *const *names,
                    const char *const *values,
                    const int *types /* SQLite's: 1 int, 2 real, 3 text, 5 null */),
        void *row_context);
    /* Gives a run that was recorded a label. NULL: no database. */
    enum mgb_status (*tag)(void *context, int64_t run, const char *name);
    /* Is b faster than a? MGB_INVALID, MGB_MISSING: what words name is not there. */
    enum mgb_status (*compare)(void *context, struct script_comparison *out,
                               const struct script_compare_request *request);
    /* True when Ctrl-C was pressed: loops of the script's own end early. */
    bool (*interrupted)(void *context);
};

#endif
