/* Inside of app/script: the bindings of engine and services, one file a C type, and what they need of each other. Functions
 * that take a lua_State may raise. */
#ifndef MGB_APP_SCRIPT_BIND_H
#define MGB_APP_SCRIPT_BIND_H

#include "app/script/host.h"
#include "app/script/services.h"

/* Bindings: each adds its functions to the table on the top, which the Lua that is part of the program (scripts/lib) is
 * given and scripts never see. */
void mgb_script_bind_options(lua_State *L); /* reading option tables, raising */
void mgb_script_bind_graph(lua_State *L);   /* the graph of a model */
void mgb_script_bind_ops(
    lua_State *L); /* methods of graphs that add operators: expects their method table */
void mgb_script_bind_source(lua_State *L);    /* data bound to a graph */
void mgb_script_bind_placement(lua_State *L); /* placements as asked */
void mgb_script_bind_session(lua_State *L);   /* sessions */
void mgb_script_bind_inspect(
    lua_State *L); /* methods of sessions that only look: expects their method table */
void mgb_script_bind_trace(lua_State *L);      /* traced steps of sessions: likewise */
void mgb_script_bind_checkpoint(lua_State *L); /* saving and loading sessions: likewise */
void mgb_script_bind_explain(lua_State *L);    /* critical paths of stored steps */
void mgb_script_bind_plot(lua_State *L);       /* pictures */
void mgb_script_bind_query(lua_State *L);      /* database, tables, progress */
void mgb_script_bind_sweep(lua_State *L);      /* points of sweeps */
void mgb_script_bind_compare(lua_State *L);    /* comparisons of recorded runs */
void mgb_script_bind_machine(lua_State *L);    /* machines of the simulator */
void mgb_script_bind_predict(lua_State *L);    /* steps in virtual time, without a run */

/* Userdata, checked and alive; raise otherwise. */
struct mgb_graph *mgb_script_graph(lua_State *L, int index);
struct mgb_source *mgb_script_source(lua_State *L, int index);
struct script_placement { /* as asked, and what of it was given since the last mark */
    struct mgb_placement asked;
    uint64_t fresh;
};
struct script_placement *mgb_script_placement(lua_State *L, int index);
struct script_session *mgb_script_session(lua_State *L, int index);

/* The machine at `index`, borrowed; NULL when it is none. */
struct mgb_machine *mgb_script_machine(lua_State *L, int index);

/* The field "load" of the table at `index`, whose texts stay alive there: false when there is none. */
bool mgb_script_read_load(lua_State *L, int index, struct script_load *out);
/* A table of what came of it, which is done with then. */
void mgb_script_push_loaded(lua_State *L, struct mgb_checkpoint_loaded *loaded);

/* What is to be opened, in the table at 1, whose values stay alive there; and a point of a sweep in the one at `index`. */
void mgb_script_read_request(lua_State *L, struct script_open_request *out,
                             struct script_point *point);
void mgb_script_read_point(lua_State *L, int index, struct script_point *out);
/* The services of the program; raises, naming what is not `offered` ("sessions"), when there are none. */
const struct script_services *mgb_script_services(lua_State *L, const char *offered);
/* Set a field of the table on the top. A NaN is not known and sets none, nor does a NULL. */
void mgb_script_set_number(lua_State *L, const char *key, double value);
void mgb_script_set_integer(lua_State *L, const char *key, int64_t value);
void mgb_script_set_boolean(lua_State *L, const char *key, bool value);
void mgb_script_set_text(lua_State *L, const char *key, const char *text);
/* Fields of the table at `index`; they raise when one is of another type. A text stays alive in the table. */
int64_t mgb_script_integer_field(lua_State *L, int index, const char *key, int64_t fallback);
double mgb_script_number_field(lua_State *L, int index, const char *key, double fallback);
bool mgb_script_boolean_field(lua_State *L, int index, const char *key);
const char *mgb_script_text_field(lua_State *L, int index, const char *key, const char *fallback);
/* A table of a segment's figures. A loss that is not a number is one that diverged, when something was `trained`. */
void mgb_script_push_figures(lua_State *L, const struct script_figures *f, bool trained);

/* The text at `index`; raises unless it is one without a NUL. */
const char *mgb_script_read_name(lua_State *L, int index);
/* The integer at `index`; raises, naming `what`, unless it is one that an int holds. */
int mgb_script_read_int(lua_State *L, int index, const char *what);
/* Raises unless the value is a list of integers. */
void mgb_script_read_shape(lua_State *L, int index, struct mgb_shape *out);

/* Pushes the value of a placement option as the Lua value users write (nil for ""). */
void mgb_script_push_option(lua_State *L, enum mgb_option_id id, const char *text);

#endif
