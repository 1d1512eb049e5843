/* Pictures from Lua tables: what scripts/lib/plot.lua worked out becomes a chart, shown as text or written as a file. */
#include "app/plot/gnuplot.h"
#include "app/plot/text.h"
#include "app/script/bind.h"
#include <math.h>
#include <string.h>

static int picture_gc(lua_State *L)
{
    mgb_picture_done(lua_touserdata(L, 1));
    return 0;
}

static struct mgb_picture *picture_make(lua_State *L)
{
    struct mgb_picture *picture = lua_newuserdatauv(L, sizeof *picture, 0);
    mgb_picture_init(picture);
    if (luaL_newmetatable(L, "mgb.picture")) {
        lua_pushcfunction(L, picture_gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return picture;
}

/* The text of a field of the table at `index`, or NULL; stays alive in the table. */
static const char *text_find(lua_State *L, int index, const char *key)
{
    lua_getfield(L, index, key);
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    lua_pop(L, 1);
    return text;
}

static void text_take(lua_State *L, int index, const char *key, char **out, bool *failed)
{
    const char *text = text_find(L, index, key);
    if (text && *text)
        mgb_picture_say(out, failed, "%s", text);
}

/* Number `i` of the list on the top, or NaN. */
static double number_at(lua_State *L, int i)
{
    lua_rawgeti(L, -1, i);
    double value = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : NAN;
    lua_pop(L, 1);
    return value;
}

static double number_find(lua_State *L, int index, const char *key)
{
    lua_getfield(L, index, key);
    double value = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return value;
}

static void series_take(lua_State *L, struct mgb_chart *chart)
{
    const char *label = text_find(L, -1, "label");
    int series = mgb_chart_add_series(chart, label ? label : "");
    lua_getfield(L, -1, "points");
    for (lua_Integer i = 1; i <= luaL_len(L, -1); i++) {
        lua_rawgeti(L, -1, i);
        mgb_chart_add_point(chart, series, number_at(L, 1), number_at(L, 2), number_at(L, 3),
                            number_at(L, 4));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void mark_take(lua_State *L, struct mgb_chart *chart)
{
    const char *kind = text_find(L, -1, "kind"), *label = text_find(L, -1, "label");
    mgb_chart_add_mark(chart, kind && strcmp(kind, "note") == 0 ? MGB_MARK_NOTE : MGB_MARK_EDGE,
                       number_find(L, -1, "x"), number_find(L, -1, "y"), label ? label : "");
}

static void category_take(lua_State *L, struct mgb_chart *chart)
{
    mgb_chart_add_category(chart, luaL_checkstring(L, -1));
}

static void list_take(lua_State *L, const char *key, struct mgb_chart *chart,
                      void (*take)(lua_State *L, struct mgb_chart *chart))
{
    lua_getfield(L, -1, key);
    for (lua_Integer i = 1; lua_istable(L, -1) && i <= luaL_len(L, -1); i++) {
        lua_rawgeti(L, -1, i);
        take(L, chart);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* The panel on the top. */
static void panel_take(lua_State *L, struct mgb_picture *picture)
{
    static const char *const names[] = {"lines", "points", "bars", "stacked"};
    const char *kind = text_find(L, -1, "kind");
    enum mgb_chart_kind found = MGB_CHART_LINES;
    for (int i = 0; kind && i < 4; i++)
        if (strcmp(kind, names[i]) == 0)
            found = (enum mgb_chart_kind)i;
    struct mgb_chart *chart = mgb_picture_add(picture, found);
    text_take(L, -1, "title", &chart->title, &chart->failed);
    text_take(L, -1, "x_label", &chart->x_label, &chart->failed);
    text_take(L, -1, "y_label", &chart->y_label, &chart->failed);
    lua_getfield(L, -1, "x_log");
    chart->x_log = lua_toboolean(L, -1);
    lua_pop(L, 1);
    list_take(L, "categories", chart, category_take);
    list_take(L, "series", chart, series_take);
    list_take(L, "marks", chart, mark_take);
}

/* plot(picture, file, size): to the file, or to standard output where people read it. */
static int picture_show(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    const char *file = luaL_optstring(L, 2, NULL), *pixels = luaL_optstring(L, 3, NULL);
    struct mgb_picture_size size = {0, 0};
    struct mgb_picture *picture = picture_make(L);
    text_take(L, 1, "title", &picture->title, &picture->failed);
    text_take(L, 1, "subtitle", &picture->subtitle, &picture->failed);
    text_take(L, 1, "note", &picture->note, &picture->failed);
    lua_getfield(L, 1, "panels");
    for (lua_Integer i = 1; i <= luaL_len(L, -1); i++) {
        lua_rawgeti(L, -1, i);
        panel_take(L, picture);
        lua_pop(L, 1);
    }
    mgb_picture_align(picture);
    if (pixels)
        mgb_script_check(L, mgb_picture_size_read(&size, pixels));
    if (file) {
        mgb_script_check_write(L, "mgb.plot", file);
        mgb_script_check(L, mgb_picture_write(picture, file, &size));
    } else if (mgb_script_of(L)->format == MGB_TABLE_TEXT) {
        struct mgb_text_style style = mgb_text_style_find();
        mgb_script_check(L, mgb_picture_print(picture, &style, stdout));
    }
    return 0;
}

void mgb_script_bind_plot(lua_State *L)
{
    lua_pushcfunction(L, picture_show);
    lua_setfield(L, -2, "plot");
}
