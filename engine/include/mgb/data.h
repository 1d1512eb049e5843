/* A source of examples. The consumer says which rows it wants; a source keeps no cursor, so that a live toggle of the batch
 * or a second evaluation never disturbs it. Readers (IDX, synthetic) make sources; the engine only sees this table. */
#ifndef MGB_DATA_H
#define MGB_DATA_H

#include <mgb/model.h>

struct mgb_source {
    void *context;
    /* Rows of an epoch; every one is used once an epoch. 0: endless synthetic data. */
    int64_t rows;
    /* The same batch at every call (synthetic): fetched once. */
    bool fixed;
    /* Epochs are not shuffled. */
    bool ordered;
    char description[160];
    /* Writes rows first .. first+rows-1 of `epoch`'s order (shuffled by `seed` and epoch unless the source is ordered;
     * epoch -1 is the stored order) for input `index` into out, plain layout. One thread at a time calls it,
     * unless it is a source made below: two runs may share those. */
    enum mgb_status (*fill)(void *context, uint64_t seed, int64_t epoch, int64_t first,
                            int64_t rows, int index, void *out);
    void (*close)(void *context);
};

/* All makers bind the source to a model's inputs by name and check shapes and types. On success the caller owns `out`
 * (mgb_source_close). */

/* Seeded and fixed: f32 inputs uniform in [0, 1), i32 inputs uniform below `classes` (found from the losses that use
 * them). One batch drawn for global row numbers, so it is the same for every split. */
enum mgb_status mgb_source_random(struct mgb_source *out, const struct mgb_graph *graph,
                                  uint64_t seed);

struct mgb_idx_file {
    const char *input; /* name of the model's input */
    const char *path;  /* plain or gzip */
};
/* u8 images become f32 / 255 with a channel axis of 1; one-dimensional u8 labels become i32. */
enum mgb_status mgb_source_idx(struct mgb_source *out, const struct mgb_graph *graph,
                               const struct mgb_idx_file *files, int count, bool shuffle);
/* Arrays of numpy: `path` is a .npy file, or with `archive` the name of an entry of that .npz file, ".npy" left out or not.
 * The first axis counts rows; f4, f8, i4 and i8 become the input's type where it holds them, u1 as in IDX files, without
 * the channel axis where the input has none. */
enum mgb_status mgb_source_npz(struct mgb_source *out, const struct mgb_graph *graph,
                               const char *archive, const struct mgb_idx_file *files, int count,
                               bool shuffle);

struct mgb_csv_input {
    const char *input;
    const char *const *columns; /* names in the first line, numbers from 1, or "first:last" */
    int count;
};
struct mgb_csv {
    const char *path; /* plain or gzip */
    const struct mgb_csv_input *inputs;
    int count;
    bool headless; /* the first line is a row */
    char separator;
    const char *const *classes; /* names of classes in order; NULL: in order of appearance */
    int class_count;
};
/* Numbers become f32 or i32. One column of names for an i32 input becomes classes. Errors name line and column. */
enum mgb_status mgb_source_csv(struct mgb_source *out, const struct mgb_graph *graph,
                               const struct mgb_csv *csv, bool shuffle);

/* Words as numbers: a text, or pairs of sentences, read once for any number of models. */
struct mgb_corpus;
enum mgb_unit { MGB_CHARACTERS, MGB_WORDS };
struct mgb_corpus_options {
    const char *path; /* plain or gzip */
    enum mgb_unit unit;
    int64_t most; /* numbers at most, one of them for all that is unknown; 0: no limit */
    const struct mgb_corpus *as; /* whose vocabulary to use, copied; NULL: one of its own */
};
/* A text in UTF-8. Numbers begin at 0 with the most frequent unit, of equals the one that comes first; with a limit the
 * last number is that of unknown ones. A word is a run of letters and digits, with apostrophes between them; any other
 * character but a blank stands for itself. */
enum mgb_status mgb_corpus_text(struct mgb_corpus **out, const struct mgb_corpus_options *options);
/* Lines of SNLI: objects with sentence1, sentence2 and gold_label. 0 is padding, 1 unknown, words from 2. Lines whose label
 * is "-" and those with a sentence without a word are skipped and counted. */
enum mgb_status mgb_corpus_pairs(struct mgb_corpus **out, const struct mgb_corpus_options *options);
void mgb_corpus_free(struct mgb_corpus *corpus);
/* How many numbers there are: what an embedding of it has rows. */
int64_t mgb_corpus_vocabulary(const struct mgb_corpus *corpus);
int64_t mgb_corpus_skipped(const struct mgb_corpus *corpus);
/* The word of a number, NULL for those that stand for none. */
const char *mgb_corpus_word(const struct mgb_corpus *corpus, int64_t number);

/* Rows of `seq` units one after the other; the label is the same shifted by one, or for an input of one value the unit that
 * follows. The corpus stays the owner's. `input` may be NULL: the model's first one that is not the label. */
enum mgb_status mgb_source_text(struct mgb_source *out, const struct mgb_graph *graph,
                                const struct mgb_corpus *corpus, const char *input,
                                const char *label, int64_t seq, bool shuffle);
/* Both sentences cut or filled with 0 to what their inputs take; labels: 0 entailment, 1 neutral, 2 contradiction.
 * names: sentence1, sentence2, label; the first two may be NULL: the model's inputs in order, the label left out. */
enum mgb_status mgb_source_pairs(struct mgb_source *out, const struct mgb_graph *graph,
                                 const struct mgb_corpus *corpus, const char *const names[3],
                                 bool shuffle);
/* A digest of the bytes of a file, for telling data apart. */
enum mgb_status mgb_file_digest(uint64_t *out, const char *path);

/* Rows [begin, end) of another source, which stays the owner's. */
enum mgb_status mgb_source_take(struct mgb_source *out, const struct mgb_source *of,
                                const struct mgb_graph *graph, int64_t begin, int64_t end);
void mgb_source_close(struct mgb_source *source);

/* Rows from memory, borrowed: data[i] holds `rows` rows of input i. For tests and for scripts. */
enum mgb_status mgb_source_memory(struct mgb_source *out, const struct mgb_graph *graph,
                                  const void *const *data, int64_t rows, bool shuffle);

/* A prefetcher fills two slots on its own thread. */
struct mgb_prefetch;
struct mgb_batch_request {
    int64_t epoch, first, rows;
};
/* `slots[s * inputs + i]`: memory of input i in slot s (0, 1), large enough for the largest request. */
enum mgb_status mgb_prefetch_make(struct mgb_prefetch **out, const struct mgb_source *source,
                                  uint64_t seed, int inputs, void *const *slots);
void mgb_prefetch_free(struct mgb_prefetch *prefetch);
/* Starts filling `slot`; returns at once. A request pending there is dropped. */
void mgb_prefetch_begin(struct mgb_prefetch *prefetch, int slot, struct mgb_batch_request request);
/* Waits until `slot` holds exactly `request`, filling it now if something else was asked for. */
enum mgb_status mgb_prefetch_wait(struct mgb_prefetch *prefetch, int slot,
                                  struct mgb_batch_request request);

#endif
