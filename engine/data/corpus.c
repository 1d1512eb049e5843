/* What texts and pairs of sentences have in common. See corpus.h. */
#include "engine/data/corpus.h"

#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/data/bind.h"
#include "engine/data/stored.h"
#include "engine/data/stream.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PADDING_AND_UNKNOWN = 2 };

static enum mgb_status vocabulary_begin(struct mgb_corpus *corpus,
                                        const struct mgb_corpus_options *options)
{
    const struct mgb_corpus *as = options->as;
    int least = corpus->pairs ? PADDING_AND_UNKNOWN + 1 : 2;
    if (options->most < 0 || (options->most > 0 && options->most < least) ||
        options->most > INT32_MAX)
        return mgb_fail(MGB_INVALID, "'%s': a vocabulary of %lld numbers; %d at least",
                        corpus->path, (long long)options->most, least);
    if (!as)
        return MGB_OK;
    if (as->pairs != corpus->pairs || as->unit != corpus->unit)
        return mgb_fail(MGB_INVALID,
                        "'%s' cannot use the vocabulary of '%s', which was cut in another way; "
                        "both must be texts in the same unit, or both pairs of sentences",
                        corpus->path, as->path);
    corpus->borrowed = true;
    corpus->unknown = as->unknown;
    corpus->size = as->size;
    return mgb_vocabulary_copy(&corpus->vocabulary, &as->vocabulary);
}

enum mgb_status mgb_corpus_begin(struct mgb_corpus **out, const struct mgb_corpus_options *options,
                                 bool pairs)
{
    struct mgb_corpus *corpus = mgb_alloc(sizeof *corpus);
    if (!corpus)
        return mgb_fail(MGB_NO_MEMORY, "no memory to read '%s'", options->path);
    corpus->pairs = pairs;
    corpus->unit = pairs ? MGB_WORDS : options->unit;
    corpus->first = pairs ? PADDING_AND_UNKNOWN : 0;
    corpus->unknown = pairs ? 1 : -1;
    corpus->path = mgb_copy_string(options->path);
    enum mgb_status status = corpus->path ? vocabulary_begin(corpus, options)
                                          : mgb_fail(MGB_NO_MEMORY, "no memory to read a text");
    if (status != MGB_OK) {
        mgb_corpus_free(corpus);
        return status;
    }
    *out = corpus;
    return MGB_OK;
}

void mgb_corpus_free(struct mgb_corpus *corpus)
{
    if (!corpus)
        return;
    mgb_vocabulary_done(&corpus->vocabulary);
    for (int i = 0; i < 2; i++) {
        mgb_release(corpus->numbers[i].at);
        mgb_release(corpus->starts[i]);
    }
    mgb_release(corpus->labels);
    mgb_release(corpus->path);
    mgb_release(corpus);
}

static enum mgb_status number_push(struct mgb_numbers *numbers, int32_t number, const char *path)
{
    if (numbers->count == numbers->capacity) {
        int64_t capacity = numbers->capacity ? numbers->capacity + numbers->capacity / 2 : 4096;
        int32_t *at = mgb_realloc(numbers->at, (size_t)capacity * sizeof *at);
        if (!at)
            return mgb_fail(MGB_NO_MEMORY, "'%s': no memory for %lld words", path,
                            (long long)capacity);
        numbers->at = at;
        numbers->capacity = capacity;
    }
    numbers->at[numbers->count++] = number;
    return MGB_OK;
}

/* Until the vocabulary is ranked, numbers are the places of words in order of appearance. */
enum mgb_status mgb_corpus_add(struct mgb_corpus *corpus, int list, const char *text, size_t length)
{
    int32_t word;
    if (corpus->borrowed) {
        int32_t found = mgb_vocabulary_find(&corpus->vocabulary, text, length);
        word = found < 0 ? -1 : corpus->vocabulary.rank[found];
        word = word < 0 ? corpus->unknown : word;
        if (word < 0)
            return mgb_fail(MGB_INVALID,
                            "'%.*s' is not in the vocabulary given; give the data it is of "
                            "vocabulary = N, so that it has a number for what is unknown",
                            length < 40 ? (int)length : 40, text);
    } else {
        MGB_TRY(mgb_vocabulary_add(&word, &corpus->vocabulary, text, length));
    }
    return number_push(&corpus->numbers[list], word, corpus->path);
}

enum mgb_status mgb_corpus_rank(struct mgb_corpus *corpus, int64_t most)
{
    if (corpus->borrowed)
        return MGB_OK;
    struct mgb_vocabulary *v = &corpus->vocabulary;
    int reserved = corpus->pairs ? PADDING_AND_UNKNOWN : most > 0;
    MGB_TRY(mgb_vocabulary_rank(v, corpus->first, most > 0 ? most - reserved : 0));
    if (!corpus->pairs && most > 0)
        corpus->unknown = v->kept;
    corpus->size = (int64_t)v->kept + reserved;
    for (int list = 0; list < 2; list++)
        for (int64_t i = 0; i < corpus->numbers[list].count; i++) {
            int32_t *number = &corpus->numbers[list].at[i];
            *number = v->rank[*number] < 0 ? corpus->unknown : v->rank[*number];
        }
    return MGB_OK;
}

int64_t mgb_corpus_vocabulary(const struct mgb_corpus *corpus)
{
    return corpus->size;
}

int64_t mgb_corpus_skipped(const struct mgb_corpus *corpus)
{
    return corpus->skipped;
}

const char *mgb_corpus_word(const struct mgb_corpus *corpus, int64_t number)
{
    const struct mgb_vocabulary *v = &corpus->vocabulary;
    int64_t place = number - corpus->first;
    return place >= 0 && place < v->kept ? mgb_vocabulary_text(v, v->ranked[place]) : NULL;
}

enum mgb_status mgb_corpus_name(const char **name, const struct mgb_graph *graph, const char *label,
                                int place)
{
    for (int i = 0; !*name && i < mgb_graph_input_count(graph); i++) {
        const char *have;
        mgb_graph_input_at(graph, i, &have);
        if (strcmp(have, label) != 0 && place-- == 0)
            *name = have;
    }
    return *name ? MGB_OK
                 : mgb_fail(MGB_INVALID, "model '%s' has too few inputs besides '%s'",
                            mgb_graph_name(graph), label);
}

enum mgb_status mgb_corpus_input(int *index, const struct mgb_corpus *corpus,
                                 const struct mgb_graph *graph, const char *name)
{
    const char *same;
    MGB_TRY(mgb_input_find(index, graph, name));
    int64_t classes = mgb_graph_input_classes(graph, *index);
    if (mgb_tensor_type(graph, mgb_graph_input_at(graph, *index, &same)) != MGB_I32)
        return mgb_fail(MGB_INVALID,
                        "input '%s' of model '%s' takes no i32: words are numbers, as in "
                        "m:input('%s', { 64 }, 'i32')",
                        name, mgb_graph_name(graph), name);
    if (classes == 0 || corpus->size <= classes)
        return MGB_OK;
    return mgb_fail(MGB_INVALID,
                    "'%s' has a vocabulary of %lld, but input '%s' of model '%s' takes numbers 0 "
                    "to %lld: make the model with data.vocabulary, or the data with vocabulary = "
                    "%lld",
                    mgb_file_name(corpus->path), (long long)corpus->size, name,
                    mgb_graph_name(graph), (long long)(classes - 1), (long long)classes);
}

enum mgb_status mgb_file_digest(uint64_t *out, const char *path)
{
    int file = -1;
    int64_t bytes, offset = 0, size = 1 << 18;
    MGB_TRY(mgb_data_file_open(&file, &bytes, path));
    char *block = mgb_alloc((size_t)size);
    ssize_t got = block ? 1 : 0;
    *out = 0;
    while (got > 0 && (got = pread(file, block, (size_t)size, (off_t)offset)) > 0) {
        *out = mgb_hash(*out, block, (size_t)got);
        offset += got;
    }
    close(file);
    mgb_release(block);
    if (!block)
        return mgb_fail(MGB_NO_MEMORY, "no memory to read '%s'", path);
    return got == 0 ? MGB_OK : mgb_fail(MGB_IO, "cannot read '%s'", path);
}
