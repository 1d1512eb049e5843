/* Inside of a corpus: words as numbers, and the vocabulary that says which. */
#ifndef MGB_DATA_CORPUS_H
#define MGB_DATA_CORPUS_H

#include "engine/data/vocabulary.h"
#include <mgb/data.h>

struct mgb_numbers {
    int32_t *at;
    int64_t count, capacity;
};

struct mgb_corpus {
    char *path; /* for messages */
    bool pairs;
    enum mgb_unit unit;
    struct mgb_vocabulary vocabulary;
    bool borrowed;                 /* another's vocabulary, copied: no word is added */
    int32_t first;                 /* number of the most frequent word */
    int32_t unknown;               /* -1: none */
    int64_t size;                  /* how many numbers there are */
    struct mgb_numbers numbers[2]; /* the text, or both sentences one after the other */
    int64_t *starts[2];            /* of pairs: rows + 1 */
    int32_t *labels;
    int64_t rows, row_room, skipped;
};

enum mgb_status mgb_corpus_begin(struct mgb_corpus **out, const struct mgb_corpus_options *options,
                                 bool pairs);
/* Ranks the words and makes numbers of them. */
enum mgb_status mgb_corpus_rank(struct mgb_corpus *corpus, int64_t most);
/* Adds a word to a list. MGB_INVALID when it is not known and must be; the caller knows where it stood. */
enum mgb_status mgb_corpus_add(struct mgb_corpus *corpus, int list, const char *text,
                               size_t length);
/* A name left out (NULL) becomes that of the model's input `place` (from 0), the label not counted. */
enum mgb_status mgb_corpus_name(const char **name, const struct mgb_graph *graph, const char *label,
                                int place);
/* The input, checked: of i32, and with a number for all words. */
enum mgb_status mgb_corpus_input(int *index, const struct mgb_corpus *corpus,
                                 const struct mgb_graph *graph, const char *name);

#endif
