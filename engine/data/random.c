/* The synthetic source: one batch of values that depend on seed, input, global row and element only. */
#include <mgb/data.h>

#include "engine/base/memory.h"
#include "engine/base/random.h"
#include "engine/base/text.h"
#include "engine/data/bind.h"
#include "engine/data/order.h"

/* Sets these numbers apart from others drawn with the same seed. */
#define INPUT_STREAM 0x696e707574000000ull
/* Values of an i32 input that nothing says the classes of. */
#define UNKNOWN_CLASSES 2

struct random_source {
    uint64_t seed;
    struct random_input {
        enum mgb_type type;
        int64_t count; /* elements of a row */
        uint32_t classes;
    } input[];
};

static void element_set(const struct random_input *input, void *row, int64_t element, uint32_t bits)
{
    switch (input->type) {
    case MGB_F32:
        ((float *)row)[element] = mgb_random_unit(bits);
        break;
    case MGB_I32:
        ((int32_t *)row)[element] = (int32_t)mgb_random_below(bits, input->classes);
        break;
    case MGB_U8:
        ((uint8_t *)row)[element] = (uint8_t)(bits >> 24);
        break;
    }
}

/* The run's seed does not enter: the source has its own, and its batch is the same for every run that asks. */
static enum mgb_status random_fill(void *context, uint64_t seed, int64_t epoch, int64_t first,
                                   int64_t rows, int index, void *out)
{
    (void)seed;
    (void)epoch;
    struct random_source *source = context;
    const struct random_input *input = &source->input[index];
    int64_t row_bytes = input->count * mgb_type_size(input->type);
    MGB_TRY(mgb_rows_check("synthetic data", 0, first, rows));
    for (int64_t i = 0; i < rows; i++) {
        void *row = (unsigned char *)out + i * row_bytes;
        for (int64_t element = 0; element < input->count; element += 4) {
            struct mgb_random4 r = mgb_random_at(source->seed ^ (INPUT_STREAM + (uint64_t)index),
                                                 (uint64_t)(element / 4), (uint64_t)(first + i));
            for (int k = 0; k < 4 && element + k < input->count; k++)
                element_set(input, row, element + k, r.v[k]);
        }
    }
    return MGB_OK;
}

enum mgb_status mgb_source_random(struct mgb_source *out, const struct mgb_graph *graph,
                                  uint64_t seed)
{
    int inputs = mgb_graph_input_count(graph);
    struct random_source *source =
        mgb_alloc(sizeof *source + (size_t)inputs * sizeof source->input[0]);
    if (!source)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a data source");
    source->seed = seed;
    for (int i = 0; i < inputs; i++) {
        const char *name;
        int tensor = mgb_graph_input_at(graph, i, &name);
        int64_t classes = mgb_graph_input_classes(graph, i);
        source->input[i] =
            (struct random_input){.type = mgb_tensor_type(graph, tensor),
                                  .count = mgb_shape_count(mgb_tensor_shape(graph, tensor)),
                                  .classes = (uint32_t)(classes > 0 ? classes : UNKNOWN_CLASSES)};
    }
    *out = (struct mgb_source){.context = source,
                               .fixed = true,
                               .ordered = true,
                               .fill = random_fill,
                               .close = mgb_release};
    mgb_format(out->description, sizeof out->description, "synthetic, seed %llu",
               (unsigned long long)seed);
    return MGB_OK;
}
