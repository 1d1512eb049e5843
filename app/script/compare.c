/* Comparisons of recorded runs, for mgb.compare. */
#include "app/script/bind.h"

/* Words at `index` (a text or nil), and a list of segments behind it, kept alive on the stack. */
static void side_read(lua_State *L, int index, struct script_compare_side *out)
{
    luaL_checktype(L, index + 1, LUA_TTABLE);
    int count = (int)luaL_len(L, index + 1);
    int64_t *segments = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *segments, 0);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, index + 1, i + 1);
        segments[i] = luaL_checkinteger(L, -1);
        lua_pop(L, 1);
    }
    out->words = luaL_optstring(L, index, NULL);
    out->segments = segments;
    out->segment_count = count;
}

static void comparison_push(lua_State *L, const struct script_comparison *c)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"ratio", c->ratio}, {"low", c->low},           {"high", c->high},
                   {"p", c->p},         {"p_rank", c->p_rank},     {"floor", c->floor},
                   {"a_ms", c->a_ms},   {"a_low_ms", c->a_low_ms}, {"a_high_ms", c->a_high_ms},
                   {"b_ms", c->b_ms},   {"b_low_ms", c->b_low_ms}, {"b_high_ms", c->b_high_ms}};
    lua_createtable(L, 0, 20);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        mgb_script_set_number(L, numbers[i].key, numbers[i].value);
    mgb_script_set_integer(L, "more_repetitions", c->more_repetitions);
    mgb_script_set_text(L, "per", c->per_example ? "example" : "step");
    mgb_script_set_text(L, "verdict", c->verdict);
    mgb_script_set_text(L, "floor_source", c->floor_source);
    mgb_script_set_text(L, "text", c->text);
    mgb_script_set_text(L, "reason", *c->reason ? c->reason : NULL);
    mgb_script_set_text(L, "remarks", *c->remarks ? c->remarks : NULL);
}

/* compare(a words, a segments, b words, b segments, floor, across backends) -> figures and verdict */
static int sides_compare(lua_State *L)
{
    const struct script_services *services = mgb_script_services(L, "database");
    struct script_compare_request request = {.floor = luaL_optnumber(L, 5, 0),
                                             .across_backends = lua_toboolean(L, 6)};
    struct script_comparison comparison;
    lua_settop(L, 6);
    if (!services->compare)
        mgb_script_fail(L, "not possible here: this program offers no database");
    side_read(L, 1, &request.a);
    side_read(L, 3, &request.b);
    mgb_script_check(L, services->compare(services->context, &comparison, &request));
    comparison_push(L, &comparison);
    return 1;
}

void mgb_script_bind_compare(lua_State *L)
{
    static const luaL_Reg lent[] = {{"compare", sides_compare}, {NULL, NULL}};
    luaL_setfuncs(L, lent, 0);
}
