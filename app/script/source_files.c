/* Data in files of other programs, bound to a graph: arrays of numpy, CSV, texts and pairs of sentences. The words of a
 * text are a userdata of their own, read once for any number of graphs. */
#include "app/script/bind.h"
#include "app/script/source.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CORPUS "mgb.corpus"

static int corpus_close(lua_State *L)
{
    struct mgb_corpus **corpus = luaL_checkudata(L, 1, CORPUS);
    mgb_corpus_free(*corpus);
    *corpus = NULL;
    return 0;
}

static struct mgb_corpus *corpus_check(lua_State *L, int index)
{
    struct mgb_corpus **corpus = luaL_checkudata(L, index, CORPUS);
    luaL_argcheck(L, *corpus, index, "closed");
    return *corpus;
}

/* The texts of the list at `index`, which stay alive there, in a userdata on the top. */
static const char **texts_read(lua_State *L, int index, int *count)
{
    index = lua_absindex(L, index);
    *count = (int)luaL_len(L, index);
    const char **texts = lua_newuserdatauv(L, ((size_t)*count + 1) * sizeof *texts, 0);
    for (int i = 0; i < *count; i++) {
        lua_geti(L, index, i + 1);
        texts[i] = luaL_checkstring(L, -1);
        lua_pop(L, 1);
    }
    return texts;
}

/* source_npz(graph, archive or nil, { { input, entry or path }, ... }) */
static int source_npz(lua_State *L)
{
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    const char *archive = luaL_optstring(L, 2, NULL);
    int count;
    const struct mgb_idx_file *files = mgb_script_read_files(L, 3, &count);
    struct mgb_source *source = mgb_script_push_source(L, 1);
    mgb_script_check(L, mgb_source_npz(source, graph, archive, files, count, true));
    return 1;
}

/* source_csv(graph, path, { { input, { column, ... } }, ... }, headless, separator, classes or nil) */
static int source_csv(lua_State *L)
{
    lua_settop(L, 6);
    struct mgb_csv csv = {.path = luaL_checkstring(L, 2),
                          .count = (int)luaL_len(L, 3),
                          .headless = lua_toboolean(L, 4),
                          .separator = *luaL_checkstring(L, 5)};
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    struct mgb_csv_input *inputs =
        lua_newuserdatauv(L, ((size_t)csv.count + 1) * sizeof *inputs, 0);
    luaL_checkstack(L, csv.count + 10, "columns");
    csv.inputs = inputs;
    for (int i = 0; i < csv.count; i++) {
        lua_geti(L, 3, i + 1);
        lua_geti(L, -1, 1);
        inputs[i].input = luaL_checkstring(L, -1);
        lua_geti(L, -2, 2);
        inputs[i].columns = texts_read(L, -1, &inputs[i].count);
        lua_replace(L, -4); /* the list of columns stays alive in its own */
        lua_pop(L, 2);
    }
    if (lua_istable(L, 6))
        csv.classes = texts_read(L, 6, &csv.class_count);
    struct mgb_source *source = mgb_script_push_source(L, 1);
    mgb_script_check(L, mgb_source_csv(source, graph, &csv, true));
    return 1;
}

/* corpus_text(path, words, most, as or nil); corpus_pairs(path, nil, most, as or nil) */
static int corpus_read(lua_State *L, enum mgb_status (*read)(struct mgb_corpus **,
                                                             const struct mgb_corpus_options *))
{
    struct mgb_corpus_options options = {.path = luaL_checkstring(L, 1),
                                         .unit = lua_toboolean(L, 2) ? MGB_WORDS : MGB_CHARACTERS,
                                         .most = luaL_optinteger(L, 3, 0),
                                         .as = lua_isnoneornil(L, 4) ? NULL : corpus_check(L, 4)};
    struct mgb_corpus **corpus = lua_newuserdatauv(L, sizeof *corpus, 0);
    *corpus = NULL;
    luaL_setmetatable(L, CORPUS);
    mgb_script_check(L, read(corpus, &options));
    return 1;
}

static int corpus_text(lua_State *L)
{
    return corpus_read(L, mgb_corpus_text);
}

static int corpus_pairs(lua_State *L)
{
    return corpus_read(L, mgb_corpus_pairs);
}

/* corpus_facts(corpus) -> vocabulary, skipped; corpus_word(corpus, number) -> text or nil */
static int corpus_facts(lua_State *L)
{
    const struct mgb_corpus *corpus = corpus_check(L, 1);
    lua_pushinteger(L, mgb_corpus_vocabulary(corpus));
    lua_pushinteger(L, mgb_corpus_skipped(corpus));
    return 2;
}

static int corpus_word(lua_State *L)
{
    lua_pushstring(L, mgb_corpus_word(corpus_check(L, 1), luaL_checkinteger(L, 2)));
    return 1;
}

/* source_text(graph, corpus, input or nil, label, seq or nil) */
static int source_text(lua_State *L)
{
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    const struct mgb_corpus *corpus = corpus_check(L, 2);
    const char *input = luaL_optstring(L, 3, NULL), *label = luaL_checkstring(L, 4);
    struct mgb_source *source = mgb_script_push_source(L, 2);
    mgb_script_check(
        L, mgb_source_text(source, graph, corpus, input, label, luaL_optinteger(L, 5, 0), true));
    return 1;
}

/* source_pairs(graph, corpus, sentence1 or nil, sentence2 or nil, label) */
static int source_pairs(lua_State *L)
{
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    const struct mgb_corpus *corpus = corpus_check(L, 2);
    const char *const names[] = {luaL_optstring(L, 3, NULL), luaL_optstring(L, 4, NULL),
                                 luaL_checkstring(L, 5)};
    struct mgb_source *source = mgb_script_push_source(L, 2);
    mgb_script_check(L, mgb_source_pairs(source, graph, corpus, names, true));
    return 1;
}

/* file_digest(path) -> 16 digits */
static int file_digest(lua_State *L)
{
    uint64_t digest;
    char text[20];
    mgb_script_check(L, mgb_file_digest(&digest, luaL_checkstring(L, 1)));
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    lua_pushstring(L, text);
    return 1;
}

void mgb_script_bind_files(lua_State *L)
{
    static const luaL_Reg lent[] = {{"source_npz", source_npz},     {"source_csv", source_csv},
                                    {"source_text", source_text},   {"source_pairs", source_pairs},
                                    {"corpus_text", corpus_text},   {"corpus_pairs", corpus_pairs},
                                    {"corpus_facts", corpus_facts}, {"corpus_word", corpus_word},
                                    {"file_digest", file_digest},   {NULL, NULL}};
    luaL_newmetatable(L, CORPUS);
    lua_pushcfunction(L, corpus_close);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    luaL_setfuncs(L, lent, 0);
}
