/* What every reader of files ends in: rows that are in memory, held once, in the type of the file where that is smaller,
 * and converted when a batch is filled. Rows may overlap (windows of a text) and may differ in length (sentences). */
#ifndef MGB_DATA_STORED_H
#define MGB_DATA_STORED_H

#include <mgb/data.h>

struct mgb_stored_input {
    const void *values;
    void *owned;        /* `values` when they are the source's to release, else NULL */
    enum mgb_type held; /* u8 becomes f32 / 255 or i32; else the type of the input */
    int64_t count;      /* elements the input takes */
    int64_t offset;     /* element at which row 0 begins, */
    int64_t stride;     /* and how far on each next one does */
    const int64_t
        *starts; /* or, for rows of any length: rows + 1 beginnings; cut, or filled up with 0 */
};

/* `inputs`: one for each of the model's inputs in order; their `owned` go over to the source, released on failure too.
 * The description is the caller's to write. */
enum mgb_status mgb_source_stored(struct mgb_source *out, const struct mgb_graph *graph,
                                  const struct mgb_stored_input *inputs, int64_t rows,
                                  bool shuffle);
/* Room for one for each input, zeroed (mgb_release). */
enum mgb_status mgb_stored_make(struct mgb_stored_input **out, const struct mgb_graph *graph);
/* Releases what they own, and them. */
void mgb_stored_free(struct mgb_stored_input *inputs, int count);
/* Every input has values. MGB_INVALID names the one that has none. */
enum mgb_status mgb_stored_check(const struct mgb_stored_input *inputs,
                                 const struct mgb_graph *graph, const char *what);

/* Bytes of a file as values of an input: f32 / 255, or the number. */
void mgb_bytes_convert(enum mgb_type type, const unsigned char *from, int64_t count, void *to);

/* The last part of a path, for descriptions. */
const char *mgb_file_name(const char *path);

#endif
