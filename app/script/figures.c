/* A segment's figures as a table. What is not known is no field. */
#include "app/script/bind.h"
#include <math.h>

static void step_ms_push(lua_State *L, const struct script_figures *f)
{
    lua_createtable(L, 0, 4);
    mgb_script_set_number(L, "median", f->median_ms);
    mgb_script_set_number(L, "p95", f->p95_ms);
    mgb_script_set_number(L, "mean", f->mean_ms);
    lua_createtable(L, 2, 0);
    if (!isnan(f->ci95_low_ms) && !isnan(f->ci95_high_ms)) {
        lua_pushnumber(L, f->ci95_low_ms);
        lua_rawseti(L, -2, 1);
        lua_pushnumber(L, f->ci95_high_ms);
        lua_rawseti(L, -2, 2);
    }
    lua_setfield(L, -2, "ci95");
}

/* How far the times can be trusted. */
static void judgement_push(lua_State *L, const struct script_figures *f)
{
    mgb_script_set_number(L, "noise", f->noise);
    if (f->steady >= 0)
        mgb_script_set_boolean(L, "steady", f->steady);
    mgb_script_set_text(L, "not_steady", f->not_steady);
    mgb_script_set_text(L, "stop_reason", f->stop_reason);
    if (f->outliers >= 0) {
        mgb_script_set_integer(L, "outliers", f->outliers);
        mgb_script_set_integer(L, "outliers_far", f->outliers_far);
    }
    mgb_script_set_number(L, "worst_ratio", f->worst_ratio);
    mgb_script_set_number(L, "unaccounted_ms", f->unaccounted_ms);
    mgb_script_set_number(L, "unaccounted_share", f->unaccounted_share);
    mgb_script_set_number(L, "first_ratio", f->first_ratio);
    mgb_script_set_text(L, "first_phase", f->first_phase);
    mgb_script_set_integer(L, "ring_waits", f->ring_waits);
    if (f->target_noise > 0)
        mgb_script_set_number(L, "target_noise", f->target_noise);
    if (f->max_time_ms > 0)
        mgb_script_set_number(L, "max_time_ms", f->max_time_ms);
}

/* metrics by number, as the graph has them; Lua gives them their names */
static void metrics_push(lua_State *L, const struct script_figures *f)
{
    lua_createtable(L, f->metric_count, 0);
    for (int i = 0; i < f->metric_count; i++) {
        lua_pushnumber(L, f->metrics[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

/* A loss that is not a number is one that diverged, when there is one. */
void mgb_script_push_figures(lua_State *L, const struct script_figures *f, bool trained)
{
    lua_createtable(L, 0, 24);
    if (f->run_id) {
        mgb_script_set_integer(L, "run_id", f->run_id);
        mgb_script_set_integer(L, "segment_id", f->segment_id);
    }
    mgb_script_set_integer(L, "steps", f->steps);
    mgb_script_set_integer(L, "warmup_steps", f->warmup_steps);
    step_ms_push(L, f);
    lua_setfield(L, -2, "step_ms");
    mgb_script_set_number(L, "examples_per_s", f->examples_per_s);
    mgb_script_set_number(L, "loss", f->loss);
    if (trained && isnan(f->loss)) {
        lua_pushnumber(L, f->loss);
        lua_setfield(L, -2, "loss");
    }
    judgement_push(L, f);
    metrics_push(L, f);
    lua_setfield(L, -2, "metrics");
    mgb_script_set_text(L, "outcome", f->outcome ? f->outcome : "ok");
    mgb_script_set_boolean(L, "log_complete", f->log_complete);
}
