/* A source from a text: its characters or words as numbers, rows of `seq` of them, and the same shifted by one. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/data/corpus.h"
#include "engine/data/lines.h"
#include "engine/data/stored.h"
#include "engine/data/words.h"
#include <mgb/text.h>
#include <string.h>

static enum mgb_status unit_add(struct mgb_corpus *corpus, const struct mgb_lines *lines,
                                const char *text, size_t length)
{
    enum mgb_status status = mgb_corpus_add(corpus, 0, text, length);
    if (status != MGB_OK)
        return mgb_lines_fail(lines, status, "%s", mgb_message_get());
    return MGB_OK;
}

static enum mgb_status characters_add(struct mgb_corpus *corpus, const struct mgb_lines *lines)
{
    for (size_t at = 0, step; at < lines->size; at += step) {
        uint32_t point;
        step = mgb_character_read(&point, lines->text + at, lines->size - at);
        MGB_TRY(unit_add(corpus, lines, lines->text + at, step));
    }
    return MGB_OK;
}

static enum mgb_status words_add(struct mgb_corpus *corpus, const struct mgb_lines *lines)
{
    for (size_t at = 0;;) {
        size_t blanks, length = mgb_word_next(lines->text + at, lines->size - at, &blanks);
        if (length == 0)
            return MGB_OK;
        MGB_TRY(unit_add(corpus, lines, lines->text + at + blanks, length));
        at += blanks + length;
    }
}

static enum mgb_status lines_add(struct mgb_corpus *corpus, struct mgb_lines *lines)
{
    for (;;) {
        bool some;
        MGB_TRY(mgb_lines_next(&some, lines, true));
        if (!some)
            return MGB_OK;
        MGB_TRY(corpus->unit == MGB_CHARACTERS ? characters_add(corpus, lines)
                                               : words_add(corpus, lines));
    }
}

enum mgb_status mgb_corpus_text(struct mgb_corpus **out, const struct mgb_corpus_options *options)
{
    struct mgb_corpus *corpus = NULL;
    struct mgb_lines lines;
    MGB_TRY(mgb_corpus_begin(&corpus, options, false));
    enum mgb_status status = mgb_lines_open(&lines, options->path);
    if (status == MGB_OK)
        status = lines_add(corpus, &lines);
    mgb_lines_close(&lines);
    if (status == MGB_OK && corpus->numbers[0].count < 2)
        status = mgb_fail(MGB_INVALID, "'%s' holds no text", options->path);
    if (status == MGB_OK)
        status = mgb_corpus_rank(corpus, options->most);
    if (status != MGB_OK) {
        mgb_corpus_free(corpus);
        return status;
    }
    *out = corpus;
    return MGB_OK;
}

/* Binds an input to the text, or to what follows each unit; a label of one value is what follows the row. */
static enum mgb_status input_bind(struct mgb_stored_input *inputs, const struct mgb_corpus *corpus,
                                  const struct mgb_graph *graph, const char *name, int64_t *seq,
                                  bool label)
{
    int index;
    const char *same;
    MGB_TRY(mgb_corpus_input(&index, corpus, graph, name));
    const struct mgb_shape *shape =
        mgb_tensor_shape(graph, mgb_graph_input_at(graph, index, &same));
    bool scalar = label && shape->rank == 0;
    if (!label && *seq == 0 && shape->rank == 1)
        *seq = shape->dim[0];
    if (inputs[index].values)
        return mgb_fail(MGB_INVALID, "input '%s' is to be both the text and its label", name);
    if (!scalar && (shape->rank != 1 || shape->dim[0] != *seq)) {
        char takes[96];
        mgb_shape_format(takes, sizeof takes, shape);
        return mgb_fail(MGB_INVALID,
                        "input '%s' of model '%s' takes %s, but rows of the text are %lld long; "
                        "the model's length and seq must be the same",
                        name, mgb_graph_name(graph), shape->rank ? takes : "one value",
                        (long long)*seq);
    }
    inputs[index] = (struct mgb_stored_input){.values = corpus->numbers[0].at,
                                              .held = MGB_I32,
                                              .count = scalar ? 1 : *seq,
                                              .offset = scalar ? *seq : label,
                                              .stride = *seq};
    return MGB_OK;
}

enum mgb_status mgb_source_text(struct mgb_source *out, const struct mgb_graph *graph,
                                const struct mgb_corpus *corpus, const char *input,
                                const char *label, int64_t seq, bool shuffle)
{
    struct mgb_stored_input *inputs = NULL;
    enum mgb_status status;
    MGB_TRY(mgb_stored_make(&inputs, graph));
    MGB_TRY_GOTO(status, mgb_corpus_name(&input, graph, label, 0), end);
    MGB_TRY_GOTO(status, input_bind(inputs, corpus, graph, input, &seq, false), end);
    MGB_TRY_GOTO(status, input_bind(inputs, corpus, graph, label, &seq, true), end);
    MGB_TRY_GOTO(status, mgb_stored_check(inputs, graph, "text"), end);
    int64_t have = corpus->numbers[0].count, rows = (have - 1) / seq;
    const char *units = corpus->unit == MGB_WORDS ? "words" : "characters";
    if (rows < 1) {
        status = mgb_fail(MGB_INVALID,
                          "'%s' has %lld %s: too few for a row of %lld and the one that follows",
                          corpus->path, (long long)have, units, (long long)seq);
        goto end;
    }
    MGB_TRY_GOTO(status, mgb_source_stored(out, graph, inputs, rows, shuffle), end);
    mgb_format(out->description, sizeof out->description,
               "%lld rows of %lld %s of %.80s, vocabulary %lld", (long long)rows, (long long)seq,
               units, mgb_file_name(corpus->path), (long long)corpus->size);
end:
    mgb_release(inputs); /* they own nothing */
    return status;
}
