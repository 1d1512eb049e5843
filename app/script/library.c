/* The Lua parts of mgb and nn, in the order in which they build on each other. Each is called with mgb, nn and a table of
 * what C and the parts before lend; scripts never see that table. */
#include "app/script/bind.h"
#include "app/script/mgb_lua_best.h"
#include "app/script/mgb_lua_checkpoint.h"
#include "app/script/mgb_lua_closure.h"
#include "app/script/mgb_lua_compare.h"
#include "app/script/mgb_lua_data.h"
#include "app/script/mgb_lua_data_open.h"
#include "app/script/mgb_lua_explain.h"
#include "app/script/mgb_lua_explain_hint.h"
#include "app/script/mgb_lua_forecast.h"
#include "app/script/mgb_lua_json.h"
#include "app/script/mgb_lua_later.h"
#include "app/script/mgb_lua_machine.h"
#include "app/script/mgb_lua_machine_read.h"
#include "app/script/mgb_lua_max_batch.h"
#include "app/script/mgb_lua_model.h"
#include "app/script/mgb_lua_nn.h"
#include "app/script/mgb_lua_nn_attention.h"
#include "app/script/mgb_lua_nn_layers.h"
#include "app/script/mgb_lua_nn_math.h"
#include "app/script/mgb_lua_nn_norm.h"
#include "app/script/mgb_lua_nn_projection.h"
#include "app/script/mgb_lua_nn_sequence.h"
#include "app/script/mgb_lua_nn_time.h"
#include "app/script/mgb_lua_plot.h"
#include "app/script/mgb_lua_predict.h"
#include "app/script/mgb_lua_ranking.h"
#include "app/script/mgb_lua_recall.h"
#include "app/script/mgb_lua_result.h"
#include "app/script/mgb_lua_run.h"
#include "app/script/mgb_lua_session.h"
#include "app/script/mgb_lua_speedup.h"
#include "app/script/mgb_lua_sweep.h"
#include "app/script/mgb_lua_sweep_grid.h"
#include "app/script/mgb_lua_table.h"
#include "app/script/mgb_lua_trace.h"
#include "app/script/mgb_lua_verify.h"
#include "app/script/mgb_lua_whatif.h"
#include "app/script/mgb_lua_words.h"
#include "app/script/mgb_lua_workbench.h"

void mgb_script_open_library(lua_State *L)
{
    const struct {
        const char *name, *text;
        size_t size;
    } parts[] = {
#define PART(part) {MGB_SCRIPT_INNER #part, mgb_lua_##part, mgb_lua_##part##_size}
        PART(json),          PART(closure),      PART(nn),           PART(nn_layers),
        PART(nn_norm),       PART(nn_sequence),  PART(nn_attention), PART(nn_math),
        PART(nn_projection), PART(nn_time),      PART(model),        PART(data),
        PART(data_open),     PART(result),       PART(checkpoint),   PART(recall),
        PART(trace),         PART(run),          PART(session),      PART(verify),
        PART(speedup),       PART(forecast),     PART(sweep_grid),   PART(sweep),
        PART(table),         PART(plot),         PART(explain_hint), PART(explain),
        PART(compare),       PART(later),        PART(words),        PART(workbench),
        PART(max_batch),     PART(machine_read), PART(machine),      PART(predict),
        PART(ranking),       PART(whatif),       PART(best),
#undef PART
    };
    int mgb = lua_gettop(L), nn = mgb - 1;
    lua_newtable(L);
    mgb_script_bind_options(L);
    mgb_script_bind_graph(L);
    mgb_script_bind_source(L);
    mgb_script_bind_placement(L);
    mgb_script_bind_session(L);
    mgb_script_bind_query(L);
    mgb_script_bind_plot(L);
    mgb_script_bind_explain(L);
    mgb_script_bind_sweep(L);
    mgb_script_bind_compare(L);
    mgb_script_bind_machine(L);
    mgb_script_bind_predict(L);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (luaL_loadbufferx(L, parts[i].text, parts[i].size, parts[i].name, "t") != LUA_OK)
            lua_error(L);
        lua_pushvalue(L, mgb);
        lua_pushvalue(L, nn);
        lua_pushvalue(L, mgb + 1);
        lua_call(L, 3, 0);
    }
    lua_setfield(L, LUA_REGISTRYINDEX, MGB_SCRIPT_LENT);
}
