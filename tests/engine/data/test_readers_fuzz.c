/* Damaged files of every format: each is read as it says or refused with words that name it; none crashes, hangs or takes
 * memory that its size does not warrant, and no allocation that fails is lost. 2 seconds; with MGB_LONG=1 60.
 * MGB_FUZZ_SEED=N plays one. */
#include "db/draw.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "tests/engine/data/data_file.h"
#include "tests/engine/data/data_graph.h"
#include "tests/support/draws.h"

#include <mgb/data.h>

enum { ROOM = 1 << 15, FORMATS = 6 };

static struct sample {
    const char *name;
    unsigned char bytes[ROOM];
    size_t size;
    const char *odd; /* bytes that mean something */
} samples[FORMATS] = {
    {.name = "stored.npz", .odd = "PK\1\2\3\4\5\6(){}'<>f48iu1,: \xff\x7f"},
    {.name = "deflated.npz", .odd = "PK\1\2\3\4\5\6\xff\x7f\x80"},
    {.name = "v1.npy", .odd = "(){}'<>|f48iu1,: \n-0\xff\x80"},
    {.name = "csv", .odd = ",\"\r\n 0.e+-x\xff"},
    {.name = "text", .odd = "' \n\r.\xc3\xe2\x80\xff"},
    {.name = "pairs", .odd = "{}[]\",:\\u \n0e-tfn\xff"},
};

static const char csv_text[] = "x,y,kind\n1,2.5,ash\n3,4e1,\"elm, old\"\r\n-5,.6,ash\n";
static const char plain_text[] =
    "It's a \xe2\x80\x98text\xe2\x80\x99 \xc3\xa9, twice: it's a text.\n\nEnd";
static const char pair_text[] =
    "{\"gold_label\": \"neutral\", \"sentence1\": \"a \\u00e9 b\", \"sentence2\": \"c\"}\n"
    "{\"sentence1\": \"d\", \"x\": [1, {\"y\": -0.5e3}, null], \"sentence2\": \"e f\", "
    "\"gold_label\": \"-\"}\n"
    "{\"gold_label\": \"contradiction\", \"sentence1\": \"a\", \"sentence2\": \"d d\"}\n";

static struct mgb_graph *images, *image, *table, *words, *pairs;

static struct mgb_graph *inputs_make(const char *const *names, const int *widths, int count,
                                     enum mgb_type first)
{
    struct mgb_graph *graph;
    int x;
    assert_ok(mgb_graph_make(&graph, "fuzzed"));
    for (int i = 0; i < count; i++) {
        struct mgb_shape shape = {widths[i] ? 1 : 0, {widths[i]}};
        assert_ok(mgb_graph_input(graph, &x, names[i], &shape, i ? MGB_I32 : first));
    }
    return graph;
}

static int all_make(void **state)
{
    struct mgb_shape shape = {3, {4, 3, 1}};
    int x;
    images = data_graph_make(7);
    assert_ok(mgb_graph_make(&image, "image"));
    assert_ok(mgb_graph_input(image, &x, "image", &shape, MGB_F32));
    table = inputs_make((const char *const[]){"x", "label"}, (int[]){2, 0}, 2, MGB_F32);
    words = inputs_make((const char *const[]){"input", "label"}, (int[]){3, 3}, 2, MGB_I32);
    pairs = inputs_make((const char *const[]){"sentence1", "sentence2", "label"}, (int[]){3, 3, 0},
                        3, MGB_I32);
    for (int i = 0; i < 3; i++) {
        size_t size;
        unsigned char *bytes = data_read(data_golden(samples[i].name), &size);
        assert_in_range(size, 1, ROOM);
        memcpy(samples[i].bytes, bytes, size);
        samples[i].size = size;
        free(bytes);
    }
    const char *const texts[] = {csv_text, plain_text, pair_text};
    for (int i = 0; i < 3; i++) {
        samples[3 + i].size = strlen(texts[i]);
        memcpy(samples[3 + i].bytes, texts[i], samples[3 + i].size);
    }
    return data_folder_make(state);
}

static int all_free(void **state)
{
    struct mgb_graph *const graphs[] = {images, image, table, words, pairs};
    for (int i = 0; i < 5; i++)
        mgb_graph_free(graphs[i]);
    return data_folder_remove(state);
}

static enum mgb_status table_open(struct mgb_source *out)
{
    static const char *const columns[] = {"x:y", "kind"};
    static const struct mgb_csv_input inputs[] = {{"x", columns, 1}, {"label", columns + 1, 1}};
    struct mgb_csv csv = {.path = data_path, .inputs = inputs, .count = 2, .separator = ','};
    return mgb_source_csv(out, table, &csv, true);
}

/* A source of the format, and what it is made of. */
static enum mgb_status sample_open(struct mgb_source *out, struct mgb_corpus **corpus, int format,
                                   uint64_t seed, const struct mgb_graph **graph)
{
    struct mgb_idx_file arrays[] = {{"image", seed % 2 ? "f8" : "u1"}, {"label", "y_i8"}};
    struct mgb_idx_file file = {"image", data_path};
    struct mgb_corpus_options options = {data_path, seed % 2 ? MGB_WORDS : MGB_CHARACTERS,
                                         seed % 3 ? 0 : 5, NULL};
    static const char *const names[] = {"sentence1", "sentence2", "label"};
    *graph = format < 2    ? images
             : format == 2 ? image
             : format == 3 ? table
             : format == 4 ? words
                           : pairs;
    if (format < 2)
        return mgb_source_npz(out, images, data_path, arrays, 2, true);
    if (format == 2)
        return mgb_source_npz(out, image, NULL, &file, 1, true);
    if (format == 3)
        return table_open(out);
    MGB_TRY(format == 4 ? mgb_corpus_text(corpus, &options) : mgb_corpus_pairs(corpus, &options));
    return format == 4 ? mgb_source_text(out, words, *corpus, "input", "label", 3, true)
                       : mgb_source_pairs(out, pairs, *corpus, names, true);
}

static bool words_are_fit(const char *message)
{
    for (const unsigned char *at = (const unsigned char *)message; *at; at++)
        if (*at < ' ' || *at == 0x7f)
            return false;
    return strstr(message, "file") && strlen(message) < 2000;
}

/* Reads every row of an epoch; MGB_OK: there were no words to say. */
static enum mgb_status sample_read(int format, uint64_t seed)
{
    struct mgb_source source = {0};
    struct mgb_corpus *corpus = NULL;
    const struct mgb_graph *graph;
    enum mgb_status status = sample_open(&source, &corpus, format, seed, &graph);
    for (int64_t row = 0; status == MGB_OK && row < source.rows; row++)
        for (int i = 0; status == MGB_OK && i < mgb_graph_input_count(graph); i++) {
            int32_t values[16];
            status = source.fill(source.context, seed, 1, row, 1, i, values);
        }
    mgb_source_close(&source);
    mgb_corpus_free(corpus);
    return status;
}

static void damage(struct sample *copy, uint64_t seed)
{
    uint64_t draws = 0;
#define BELOW(n) mgb_draw_below(mgb_draw_at(seed, 9, draws++), (uint32_t)(n))
    for (uint32_t i = 0, count = 1 + BELOW(3); i < count && copy->size > 1; i++) {
        size_t at = BELOW(copy->size), length = 1 + BELOW(16), odd = strlen(copy->odd);
        switch (BELOW(5)) {
        case 0: /* a byte of meaning */
            copy->bytes[at] = (unsigned char)copy->odd[BELOW(odd)];
            break;
        case 1: /* any byte */
            copy->bytes[at] = (unsigned char)BELOW(256);
            break;
        case 2: /* the end is missing */
            copy->size = at + 1;
            break;
        case 3: /* a piece is missing */
            length = length < copy->size - at ? length : copy->size - at - 1;
            memmove(copy->bytes + at, copy->bytes + at + length, copy->size - at - length);
            copy->size -= length;
            break;
        case 4: /* a piece comes twice */
            length = length < copy->size - at ? length : copy->size - at;
            if (copy->size + length <= ROOM) {
                memmove(copy->bytes + at + length, copy->bytes + at, copy->size - at);
                copy->size += length;
            }
            break;
        }
    }
#undef BELOW
}

static void damaged_files_are_refused_or_read(void **state)
{
    (void)state;
    static struct sample copy;
    const char *given = getenv("MGB_FUZZ_SEED");
    int64_t end = mgb_clock_ns() + (draw_long() ? 60 : 2) * INT64_C(1000000000);
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1, first = seed;
    int refused[FORMATS] = {0}, taken[FORMATS] = {0};
    do {
        int format = (int)(seed % FORMATS);
        copy = samples[format];
        damage(&copy, seed);
        data_write(copy.bytes, copy.size);
        enum mgb_status status = sample_read(format, seed / FORMATS);
        taken[format] += status == MGB_OK;
        refused[format] += status != MGB_OK;
        if (status != MGB_OK && !words_are_fit(mgb_message_get()))
            fail_msg("seed %llu, %s: status %s: %s", (unsigned long long)seed, copy.name,
                     mgb_status_name(status), mgb_message_get());
        seed++;
    } while (!given && (seed < first + 600 || mgb_clock_ns() < end));
    for (int i = 0; i < FORMATS && !given; i++) {
        print_message("%s: %d refused, %d read\n", samples[i].name, refused[i], taken[i]);
        assert_true(refused[i] > 10);
        assert_true(taken[i] > 0 || i == 1);
    }
}

static void an_allocation_that_fails_is_told(void **state)
{
    (void)state;
    for (int format = 0; format < FORMATS; format++) {
        data_write(samples[format].bytes, samples[format].size);
        assert_ok(sample_read(format, 3));
        enum mgb_status status = MGB_NO_MEMORY;
        int n = 1;
        for (; status == MGB_NO_MEMORY; n++) {
            mgb_alloc_fail_at(n);
            status = sample_read(format, 3);
        }
        mgb_alloc_fail_at(0);
        assert_ok(status);
        assert_in_range(n, 4, 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_files_are_refused_or_read),
        cmocka_unit_test(an_allocation_that_fails_is_told),
    };
    return cmocka_run_group_tests(tests, all_make, all_free);
}
