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
