/* A source from pairs of sentences, in the form of SNLI (Bowman et al. 2015): a JSON object a line. */
#include "engine/base/json.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/data/bind.h"
#include "engine/data/corpus.h"
#include "engine/data/lines.h"
#include "engine/data/stored.h"
#include "engine/data/words.h"
#include <string.h>

static const char *const fields[] = {"sentence1", "sentence2", "gold_label"};
static const char *const labels[] = {"entailment", "neutral", "contradiction"};

/* The three texts of a line, decoded in place. */
static enum mgb_status fields_read(char *value[3], struct mgb_json *json)
{
    MGB_TRY(mgb_json_expect(json, '{'));
    bool empty = mgb_json_take(json, '}');
    while (!empty) {
        char *name;
        int field = 0;
        MGB_TRY(mgb_json_text(&name, json));
        MGB_TRY(mgb_json_expect(json, ':'));
        while (field < 3 && strcmp(name, fields[field]) != 0)
            field++;
        if (field < 3 && value[field])
            return mgb_fail(MGB_CORRUPT, "%s twice", fields[field]);
        MGB_TRY(field < 3 ? mgb_json_text(&value[field], json) : mgb_json_skip(json));
        if (!mgb_json_take(json, ','))
            break;
    }
    if (!empty)
        MGB_TRY(mgb_json_expect(json, '}'));
    MGB_TRY(mgb_json_end(json));
    for (int i = 0; i < 3; i++)
        if (!value[i])
            return mgb_fail(MGB_CORRUPT,
                            "%s is missing; a line of SNLI has sentence1, sentence2 "
                            "and gold_label",
                            fields[i]);
    return MGB_OK;
}

static enum mgb_status label_read(int *label, const char *text)
{
    char shown[MGB_JSON_SHOWN];
    for (*label = 0; *label < 3; ++*label)
        if (strcmp(text, labels[*label]) == 0)
            return MGB_OK;
    if (strcmp(text, "-") == 0)
        return MGB_OK;
    return mgb_fail(MGB_CORRUPT,
                    "gold_label is '%s'; entailment, neutral, contradiction and - are possible",
                    mgb_json_show(shown, text));
}

static bool has_word(const char *text)
{
    size_t blanks;
    return mgb_word_next(text, strlen(text), &blanks) > 0;
}

static enum mgb_status sentence_add(struct mgb_corpus *corpus, int list, const char *text)
{
    for (size_t left = strlen(text);;) {
        size_t blanks, length = mgb_word_next(text, left, &blanks);
        if (length == 0)
            return MGB_OK;
        MGB_TRY(mgb_corpus_add(corpus, list, text + blanks, length));
        text += blanks + length;
        left -= blanks + length;
    }
}

static bool rows_grow(struct mgb_corpus *corpus)
{
    int64_t room = corpus->row_room ? 2 * corpus->row_room : 256;
    for (int i = 0; i < 2; i++) {
        int64_t *starts = mgb_realloc(corpus->starts[i], (size_t)(room + 1) * sizeof *starts);
        if (!starts)
            return false;
        corpus->starts[i] = starts;
    }
    int32_t *grown = mgb_realloc(corpus->labels, (size_t)room * sizeof *grown);
    if (!grown)
        return false;
    corpus->labels = grown;
    corpus->row_room = room;
    return true;
}

static enum mgb_status pair_add(struct mgb_corpus *corpus, char *const value[3])
{
    int label;
    MGB_TRY(label_read(&label, value[2]));
    if (label == 3 || !has_word(value[0]) || !has_word(value[1])) {
        corpus->skipped++;
        return MGB_OK;
    }
    if (corpus->rows == corpus->row_room && !rows_grow(corpus))
        return mgb_fail(MGB_NO_MEMORY, "no memory for %lld pairs", (long long)corpus->rows + 1);
    for (int i = 0; i < 2; i++) {
        corpus->starts[i][corpus->rows] = corpus->numbers[i].count;
        MGB_TRY(sentence_add(corpus, i, value[i]));
        corpus->starts[i][corpus->rows + 1] = corpus->numbers[i].count;
    }
    corpus->labels[corpus->rows++] = label;
    return MGB_OK;
}

static enum mgb_status lines_add(struct mgb_corpus *corpus, struct mgb_lines *lines)
{
    for (;;) {
        bool some;
        char *value[3] = {NULL, NULL, NULL};
        MGB_TRY(mgb_lines_next(&some, lines, false));
        if (!some)
            return MGB_OK;
        if (strspn(lines->text, " \t\r\n") == lines->size)
            continue;
        struct mgb_json json = {lines->text, lines->size, 0, "the line"};
        enum mgb_status status = fields_read(value, &json);
        if (status == MGB_OK)
            status = pair_add(corpus, value);
        if (status != MGB_OK)
            return mgb_lines_fail(lines, status, "%s", mgb_message_get());
    }
}

enum mgb_status mgb_corpus_pairs(struct mgb_corpus **out, const struct mgb_corpus_options *options)
{
    struct mgb_corpus *corpus = NULL;
    struct mgb_lines lines;
    MGB_TRY(mgb_corpus_begin(&corpus, options, true));
    enum mgb_status status = mgb_lines_open(&lines, options->path);
    if (status == MGB_OK)
        status = lines_add(corpus, &lines);
    mgb_lines_close(&lines);
    if (status == MGB_OK && corpus->rows == 0)
        status = mgb_fail(MGB_INVALID, "'%s' holds no pair with a label (%lld skipped)",
                          options->path, (long long)corpus->skipped);
    if (status == MGB_OK)
        status = mgb_corpus_rank(corpus, options->most);
    if (status != MGB_OK) {
        mgb_corpus_free(corpus);
        return status;
    }
    *out = corpus;
    return MGB_OK;
}

static enum mgb_status sentence_bind(struct mgb_stored_input *inputs,
                                     const struct mgb_corpus *corpus, const struct mgb_graph *graph,
                                     const char *name, int list)
{
    int index;
    const char *same;
    MGB_TRY(mgb_corpus_input(&index, corpus, graph, name));
    const struct mgb_shape *shape =
        mgb_tensor_shape(graph, mgb_graph_input_at(graph, index, &same));
    if (inputs[index].values)
        return mgb_fail(MGB_INVALID, "input '%s' is to be two things of a pair", name);
    if (shape->rank != 1)
        return mgb_fail(MGB_INVALID,
                        "input '%s' of model '%s' is no list of numbers; a sentence takes one, as "
                        "in m:input('%s', { 32 }, 'i32')",
                        name, mgb_graph_name(graph), name);
    inputs[index] = (struct mgb_stored_input){.values = corpus->numbers[list].at,
                                              .held = MGB_I32,
                                              .count = shape->dim[0],
                                              .starts = corpus->starts[list]};
    return MGB_OK;
}

static enum mgb_status label_bind(struct mgb_stored_input *inputs, const struct mgb_corpus *corpus,
                                  const struct mgb_graph *graph, const char *name)
{
    int index;
    const char *same;
    MGB_TRY(mgb_input_find(&index, graph, name));
    int tensor = mgb_graph_input_at(graph, index, &same);
    if (mgb_tensor_type(graph, tensor) != MGB_I32 || mgb_tensor_shape(graph, tensor)->rank != 0)
        return mgb_fail(MGB_INVALID,
                        "input '%s' of model '%s' takes no label: that is one i32, as in "
                        "m:input('%s', {}, 'i32')",
                        name, mgb_graph_name(graph), name);
    if (inputs[index].values)
        return mgb_fail(MGB_INVALID, "input '%s' is to be two things of a pair", name);
    for (int64_t row = 0; row < corpus->rows; row++)
        MGB_TRY(mgb_label_check(corpus->path, graph, index, row, corpus->labels[row]));
    inputs[index] = (struct mgb_stored_input){
        .values = corpus->labels, .held = MGB_I32, .count = 1, .stride = 1};
    return MGB_OK;
}

enum mgb_status mgb_source_pairs(struct mgb_source *out, const struct mgb_graph *graph,
                                 const struct mgb_corpus *corpus, const char *const names[3],
                                 bool shuffle)
{
    struct mgb_stored_input *inputs = NULL;
    enum mgb_status status;
    MGB_TRY(mgb_stored_make(&inputs, graph));
    for (int i = 0; i < 2; i++) {
        const char *name = names[i];
        MGB_TRY_GOTO(status, mgb_corpus_name(&name, graph, names[2], i), end);
        MGB_TRY_GOTO(status, sentence_bind(inputs, corpus, graph, name, i), end);
    }
    MGB_TRY_GOTO(status, label_bind(inputs, corpus, graph, names[2]), end);
    MGB_TRY_GOTO(status, mgb_stored_check(inputs, graph, "sentence"), end);
    MGB_TRY_GOTO(status, mgb_source_stored(out, graph, inputs, corpus->rows, shuffle), end);
    mgb_format(out->description, sizeof out->description,
               "%lld pairs of %.80s (%lld skipped), vocabulary %lld", (long long)corpus->rows,
               mgb_file_name(corpus->path), (long long)corpus->skipped, (long long)corpus->size);
end:
    mgb_release(inputs); /* they own nothing */
    return status;
}
