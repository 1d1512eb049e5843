/* What scripts ask and show outside of runs: SQL, tables, progress, where a restart may go on, the wish to stop. */
#include "app/script/bind.h"
#include <mgb/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct script_services *services_get(lua_State *L)
{
    return mgb_script_services(L, "database");
}

/* Rows arrive while SQLite holds resources, so they are kept as plain C first and pushed afterwards: pushing may raise. */
struct cell {
    int type;
    char *text;
};

struct rows {
    int columns;
    char **names;
    struct cell *cells;
    size_t count, capacity;
    bool failed;
};

static void rows_free(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->cells[i].text);
    for (int i = 0; i < rows->columns && rows->names; i++)
        free(rows->names[i]);
    free(rows->cells);
    free(rows->names);
    *rows = (struct rows){0};
}

static bool names_keep(struct rows *rows, int columns, const char *const *names)
{
    rows->names = calloc((size_t)columns + 1, sizeof *rows->names);
    if (!rows->names)
        return false;
    rows->columns = columns;
    for (int i = 0; i < columns; i++)
        if (!(rows->names[i] = strdup(names[i])))
            return false;
    return true;
}

static bool cells_reserve(struct rows *rows, size_t more)
{
    if (rows->count + more <= rows->capacity)
        return true;
    size_t capacity = (rows->capacity + more) * 2;
    struct cell *cells = realloc(rows->cells, capacity * sizeof *cells);
    if (!cells)
        return false;
    rows->cells = cells;
    rows->capacity = capacity;
    return true;
}

static bool row_keep(void *context, int columns, const char *const *names,
                     const char *const *values, const int *types)
{
    struct rows *rows = context;
    rows->failed = true; /* until the whole row is kept */
    if ((!rows->names && !names_keep(rows, columns, names)) ||
        !cells_reserve(rows, (size_t)columns))
        return false;
    for (int i = 0; i < columns; i++) {
        char *text = values[i] ? strdup(values[i]) : NULL;
        if (values[i] && !text)
            return false;
        rows->cells[rows->count++] = (struct cell){types[i], text};
    }
    rows->failed = false;
    return true;
}

static void cell_push(lua_State *L, const struct cell *cell)
{
    if (!cell->text)
        lua_pushnil(L);
    else if (cell->type == 3 || !lua_stringtonumber(L, cell->text))
        lua_pushstring(L, cell->text);
}

static int rows_gc(lua_State *L)
{
    rows_free(lua_touserdata(L, 1));
    return 0;
}

static struct rows *rows_make(lua_State *L)
{
    struct rows *rows = lua_newuserdatauv(L, sizeof *rows, 0);
    *rows = (struct rows){0};
    if (luaL_newmetatable(L, "mgb.rows")) {
        lua_pushcfunction(L, rows_gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return rows;
}

static void rows_push(lua_State *L, const struct rows *rows)
{
    size_t count = rows->columns ? rows->count / (size_t)rows->columns : 0;
    lua_createtable(L, (int)count, 0);
    for (size_t r = 0; r < count; r++) {
        lua_createtable(L, 0, rows->columns);
        for (int c = 0; c < rows->columns; c++) {
            cell_push(L, &rows->cells[r * (size_t)rows->columns + (size_t)c]);
            lua_setfield(L, -2, rows->names[c]);
        }
        lua_rawseti(L, -2, (lua_Integer)r + 1);
    }
}

/* query(sql, parameters...) -> rows, their columns' names */
static int database_query(lua_State *L)
{
    const struct script_services *services = services_get(L);
    const char *sql = luaL_checkstring(L, 1);
    int count = lua_gettop(L) - 1;
    luaL_checkstack(L, count + 8, "too many parameters");
    const char **parameters = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *parameters, 0);
    for (int i = 0; i < count; i++)
        parameters[i] = lua_isnil(L, i + 2) ? NULL : luaL_tolstring(L, i + 2, NULL);
    struct rows *rows = rows_make(L);
    enum mgb_status status =
        services->query(services->context, sql, parameters, count, row_keep, rows);
    if (rows->failed)
        status = mgb_fail(MGB_NO_MEMORY, "query: memory is exhausted; ask for fewer rows");
    mgb_script_check(L, status);
    rows_push(L, rows);
    lua_createtable(L, rows->columns, 0);
    for (int i = 0; i < rows->columns; i++) {
        lua_pushstring(L, rows->names[i]);
        lua_rawseti(L, -2, i + 1);
    }
    rows_free(rows);
    return 2;
}

static int table_gc(lua_State *L)
{
    struct mgb_table **box = lua_touserdata(L, 1);
    mgb_table_free(*box);
    *box = NULL;
    return 0;
}

static struct mgb_table *table_make(lua_State *L, int columns, const char *const *names)
{
    struct mgb_table **box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = NULL;
    if (luaL_newmetatable(L, "mgb.table")) {
        lua_pushcfunction(L, table_gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    mgb_script_check(L, mgb_table_make(box, columns, names));
    return *box;
}

static void table_add(lua_State *L, struct mgb_table *table)
{
    if (lua_isboolean(L, -1))
        mgb_table_add_boolean(table, lua_toboolean(L, -1));
    else if (lua_isinteger(L, -1))
        mgb_table_add_integer(table, lua_tointeger(L, -1));
    else if (lua_type(L, -1) == LUA_TNUMBER)
        mgb_table_add_number(table, lua_tonumber(L, -1));
    else if (lua_isnil(L, -1))
        mgb_table_add_empty(table);
    else {
        size_t size;
        const char *text = luaL_tolstring(L, -1, &size);
        mgb_table_add_bytes(table, text, size);
    }
}

/* print_table(columns, cells): cells row by row, {n = count}; to standard output in the format asked for.
 * -> true when people read it */
static int table_print(lua_State *L)
{
    enum mgb_table_format format = mgb_script_of(L)->format;
    int columns = (int)luaL_len(L, 1);
    const char **names = lua_newuserdatauv(L, ((size_t)columns + 1) * sizeof *names, 0);
    for (int i = 0; i < columns; i++) {
        lua_geti(L, 1, i + 1);
        names[i] = luaL_checkstring(L, -1); /* stays alive in the list */
        lua_pop(L, 1);
    }
    struct mgb_table *table = table_make(L, columns, names);
    lua_getfield(L, 2, "n");
    lua_Integer cells = luaL_checkinteger(L, -1);
    for (lua_Integer i = 1; i <= cells; i++) {
        int top = lua_gettop(L);
        lua_rawgeti(L, 2, i);
        table_add(L, table);
        lua_settop(L, top);
    }
    mgb_script_check(L, mgb_table_print(table, format, stdout));
    lua_pushboolean(L, format == MGB_TABLE_TEXT);
    return 1;
}

/* number(value) -> as a table shows it to people */
static int number_text(lua_State *L)
{
    char text[40];
    lua_pushstring(L, mgb_format_figure(text, luaL_checknumber(L, 1)));
    return 1;
}

/* shown_text(text) -> what a screen may have of it; lines and tabs stay */
static int shown_text(lua_State *L)
{
    size_t left, used = 1;
    const char *at = luaL_checklstring(L, 1, &left);
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    for (; left > 0; at += used, left -= used) {
        char shown[MGB_CHARACTER_SHOWN];
        bool kept = *at == '\n' || *at == '\t';
        if (kept)
            luaL_addchar(&text, *at);
        else
            luaL_addlstring(&text, shown, mgb_character_show(shown, &used, at, left));
        used = kept ? 1 : used;
    }
    luaL_pushresult(&text);
    return 1;
}

/* output(line): what whoever drives this state shows of what was asked for */
static int output_show(lua_State *L)
{
    const struct mgb_script *script = mgb_script_of(L);
    const char *line = luaL_checkstring(L, 1);
    if (script->output)
        script->output(script->output_context, line);
    else
        printf("%s\n", line);
    return 0;
}

static int statement_note(lua_State *L)
{
    const struct mgb_script *script = mgb_script_of(L);
    const char *text = luaL_checkstring(L, 1);
    if (script->statement)
        script->statement(script->output_context, text);
    return 0;
}

/* progress(line): "" clears it, a newline at the end keeps it */
static int progress_show(lua_State *L)
{
    const struct script_services *services = services_get(L);
    if (services->progress)
        services->progress(services->context, luaL_checkstring(L, 1));
    return 0;
}

/* remark(line, name or nil) */
static int remark_tell(lua_State *L)
{
    const struct script_services *services = services_get(L);
    if (services->remark)
        services->remark(services->context, luaL_optstring(L, 2, "script"), luaL_checkstring(L, 1));
    return 0;
}

static int point_tell(lua_State *L)
{
    const struct script_services *services = services_get(L);
    if (services->restartable)
        services->restartable(services->context, luaL_optstring(L, 1, NULL));
    return 0;
}

static int is_interrupted(lua_State *L)
{
    const struct script_services *services = services_get(L);
    lua_pushboolean(L, services->interrupted(services->context));
    return 1;
}

/* restarted() -> true when this process took over after a crash */
static int is_restarted(lua_State *L)
{
    lua_pushboolean(L, services_get(L)->restarted);
    return 1;
}

/* unique() -> a text that no process gives twice: moment, process, number */
static int unique_make(lua_State *L)
{
    static int number;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    lua_pushfstring(L, "%I.%d.%d.%d", (LUAI_UACINT)now.tv_sec, (int)now.tv_nsec, (int)getpid(),
                    number++);
    return 1;
}

void mgb_script_bind_query(lua_State *L)
{
    static const luaL_Reg lent[] = {{"query", database_query},
                                    {"print_table", table_print},
                                    {"number_text", number_text},
                                    {"progress", progress_show},
                                    {"output", output_show},
                                    {"statement", statement_note},
                                    {"remark", remark_tell},
                                    {"restartable", point_tell},
                                    {"interrupted", is_interrupted},
                                    {"restarted", is_restarted},
                                    {"unique", unique_make},
                                    {"shown_text", shown_text},
                                    {NULL, NULL}};
    luaL_setfuncs(L, lent, 0);
}
