/* A segment's figures as a table. What is not known is no field. */
#include "app/script/bind.h"
#include <math.h>

void mgb_script_set_number(lua_State *L, const char *key, double value)
{
    if (isnan(value)) /* unknown: no field */
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

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

static void count_set(lua_State *L, const char *key, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

static void text_set(lua_State *L, const char *key, const char *value)
{
    if (!value)
        return;
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
}

/* How far the times can be trusted. */
static void judgement_push(lua_State *L, const struct script_figures *f)
{
    mgb_script_set_number(L, "noise", f->noise);
    if (f->steady >= 0) {
        lua_pushboolean(L, f->steady);
        lua_setfield(L, -2, "steady");
    }
    text_set(L, "not_steady", f->not_steady);
    text_set(L, "stop_reason", f->stop_reason);
    if (f->outliers >= 0) {
        count_set(L, "outliers", f->outliers);
        count_set(L, "outliers_far", f->outliers_far);
    }
    mgb_script_set_number(L, "worst_ratio", f->worst_ratio);
    mgb_script_set_number(L, "unaccounted_ms", f->unaccounted_ms);
    mgb_script_set_number(L, "unaccounted_share", f->unaccounted_share);
    mgb_script_set_number(L, "first_ratio", f->first_ratio);
    text_set(L, "first_phase", f->first_phase);
    count_set(L, "ring_waits", f->ring_waits);
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
        count_set(L, "run_id", f->run_id);
        count_set(L, "segment_id", f->segment_id);
    }
    count_set(L, "steps", f->steps);
    count_set(L, "warmup_steps", f->warmup_steps);
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
    text_set(L, "outcome", f->outcome ? f->outcome : "ok");
    lua_pushboolean(L, f->log_complete);
    lua_setfield(L, -2, "log_complete");
}
