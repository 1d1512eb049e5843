/* Texts and pairs of sentences: numbers by frequency, rows and their labels, and what is refused. */
#include "tests/engine/data/data_file.h"
#include "tests/support/check.h"

#include <mgb/data.h>
#include <mgb/model.h>
#include <mgb/op.h>

/* Inputs "input" and "label" of `seq` numbers below `words`. */
static struct mgb_graph *language_model(int seq, int words, bool one_label)
{
    struct mgb_graph *graph;
    struct mgb_shape row = {1, {seq}}, label_shape = one_label ? (struct mgb_shape){0, {0}} : row;
    struct mgb_shape table = {2, {words, 4}};
    struct mgb_init init = {.kind = MGB_GLOROT_UNIFORM, .fan_in = 4, .fan_out = 4};
    int x, label, w, read, y;
    assert_ok(mgb_graph_make(&graph, "lm"));
    assert_ok(mgb_graph_input(graph, &x, "input", &row, MGB_I32));
    assert_ok(mgb_graph_input(graph, &label, "label", &label_shape, MGB_I32));
    assert_ok(mgb_graph_variable(graph, &w, "table", &table, &init));
    assert_ok(mgb_graph_read(graph, &read, w));
    assert_ok(mgb_op_embedding(graph, &y, "embedding", x, read));
    return graph;
}

static struct mgb_graph *pair_model(int length)
{
    struct mgb_graph *graph;
    struct mgb_shape row = {1, {length}}, scalar = {0, {0}};
    int x;
    assert_ok(mgb_graph_make(&graph, "pairs"));
    assert_ok(mgb_graph_input(graph, &x, "sentence1", &row, MGB_I32));
    assert_ok(mgb_graph_input(graph, &x, "sentence2", &row, MGB_I32));
    assert_ok(mgb_graph_input(graph, &x, "label", &scalar, MGB_I32));
    return graph;
}

static struct mgb_corpus *text_open(const char *text, enum mgb_unit unit, int most,
                                    const struct mgb_corpus *as)
{
    struct mgb_corpus *corpus;
    struct mgb_corpus_options options = {data_path, unit, most, as};
    data_write_text(text);
    assert_ok(mgb_corpus_text(&corpus, &options));
    return corpus;
}

/* "1 2 3 > 2 3 4; ..." */
static void rows_are(const struct mgb_source *source, const int *counts, const char *wanted)
{
    char got[1024] = "";
    size_t used = 0;
    for (int64_t row = 0; row < source->rows; row++)
        for (int i = 0; counts[i]; i++) {
            int32_t values[64];
            assert_ok(source->fill(source->context, 1, -1, row, 1, i, values));
            for (int k = 0; k < counts[i]; k++)
                used += (size_t)snprintf(got + used, sizeof got - used, "%d ", (int)values[k]);
            used += (size_t)snprintf(got + used, sizeof got - used, counts[i + 1] ? "> " : "; ");
        }
    assert_string_equal(got, wanted);
}

static void characters_are_numbered_by_frequency_then_appearance(void **state)
{
    (void)state;
    struct mgb_corpus *corpus = text_open("bananas\xc3\xa9", MGB_CHARACTERS, 0, NULL);
    struct mgb_graph *graph = language_model(3, 5, false);
    struct mgb_source source;
    assert_int_equal(mgb_corpus_vocabulary(corpus), 5);
    assert_string_equal(mgb_corpus_word(corpus, 0), "a");
    assert_string_equal(mgb_corpus_word(corpus, 1), "n");
    assert_string_equal(mgb_corpus_word(corpus, 2), "b");
    assert_string_equal(mgb_corpus_word(corpus, 4), "\xc3\xa9");
    assert_null(mgb_corpus_word(corpus, 5));
    assert_null(mgb_corpus_word(corpus, -1));
    assert_ok(mgb_source_text(&source, graph, corpus, "input", "label", 3, true));
    rows_are(&source, (int[]){3, 3, 0}, "2 0 1 > 0 1 0 ; 0 1 0 > 1 0 3 ; ");
    assert_string_equal(source.description, "2 rows of 3 characters of file, vocabulary 5");
    mgb_source_close(&source);
    mgb_graph_free(graph);
    graph = language_model(3, 5, true);
    assert_ok(mgb_source_text(&source, graph, corpus, NULL, "label", 0, true));
    rows_are(&source, (int[]){3, 1, 0}, "2 0 1 > 0 ; 0 1 0 > 3 ; ");
    mgb_source_close(&source);
    mgb_graph_free(graph);
    mgb_corpus_free(corpus);
}

/* All words, "|" between them. */
static void words_are(const char *text, const char *wanted)
{
    char got[512] = "";
    struct mgb_corpus *corpus = text_open(text, MGB_WORDS, 0, NULL);
    struct mgb_graph *graph = language_model(1, 99, false);
    struct mgb_source source;
    int32_t value = 0;
    assert_ok(mgb_source_text(&source, graph, corpus, "input", "label", 1, false));
    for (int64_t row = 0; row < source.rows; row++) {
        assert_ok(source.fill(source.context, 1, -1, row, 1, 0, &value));
        strcat(strcat(got, mgb_corpus_word(corpus, value)), "|");
    }
    assert_ok(source.fill(source.context, 1, -1, source.rows - 1, 1, 1, &value));
    strcat(got, mgb_corpus_word(corpus, value));
    assert_string_equal(got, wanted);
    mgb_source_close(&source);
    mgb_graph_free(graph);
    mgb_corpus_free(corpus);
}

static void words_are_letters_with_apostrophes_between(void **state)
{
    (void)state;
    words_are("Don't stop,  she said.\n", "Don't|stop|,|she|said|.");
    words_are("'Tis 'quoted' o'er--rock'n'roll'", "'|Tis|'|quoted|'|o'er|-|-|rock'n'roll|'");
    words_are("caf\xc3\xa9 it\xe2\x80\x99s \xe2\x80\x9cx2\xe2\x80\x9d \xe2\x80\x94 3.14",
              "caf\xc3\xa9|it\xe2\x80\x99s|\xe2\x80\x9c|x2|\xe2\x80\x9d|\xe2\x80\x94|3|.|14");
    words_are("\xef\xbb\xbfone\r\n\ttwo\xc2\xa0three", "one|two|three");
    words_are("The the", "The|the");
}

static void what_is_beyond_the_vocabulary_is_one_number(void **state)
{
    (void)state;
    struct mgb_corpus *corpus = text_open("a a a b b c d", MGB_WORDS, 3, NULL);
    struct mgb_graph *graph = language_model(6, 3, false);
    struct mgb_source source;
    assert_int_equal(mgb_corpus_vocabulary(corpus), 3);
    assert_null(mgb_corpus_word(corpus, 2));
    assert_ok(mgb_source_text(&source, graph, corpus, "input", "label", 6, true));
    rows_are(&source, (int[]){6, 6, 0}, "0 0 0 1 1 2 > 0 0 1 1 2 2 ; ");
    mgb_source_close(&source);
    struct mgb_corpus *test = text_open("b a z b a x b", MGB_WORDS, 0, corpus);
    mgb_corpus_free(corpus); /* the other has what it needs */
    assert_ok(mgb_source_text(&source, graph, test, "input", "label", 6, true));
    rows_are(&source, (int[]){6, 6, 0}, "1 0 2 1 0 2 > 0 2 1 0 2 1 ; ");
    mgb_source_close(&source);
    assert_string_equal(mgb_corpus_word(test, 1), "b");
    mgb_corpus_free(test);
    mgb_graph_free(graph);
}

static void a_limit_that_is_not_reached_still_leaves_room_for_the_unknown(void **state)
{
    (void)state;
    struct mgb_corpus *corpus = text_open("a b", MGB_WORDS, 100, NULL);
    assert_int_equal(mgb_corpus_vocabulary(corpus), 3);
    mgb_corpus_free(corpus);
}

static void text_refused(const char *text, size_t size, enum mgb_unit unit, int64_t most,
                         const struct mgb_corpus *as, const char *words)
{
    struct mgb_corpus *corpus;
    struct mgb_corpus_options options = {data_path, unit, most, as};
    data_write(text, size);
    if (mgb_corpus_text(&corpus, &options) == MGB_OK)
        fail_msg("taken: %s", text);
    assert_message(words);
    assert_message(data_path);
}

static void a_bad_text_is_refused_with_its_line(void **state)
{
    (void)state;
    text_refused("", 0, MGB_CHARACTERS, 0, NULL, "holds no text");
    text_refused("  \n ", 4, MGB_WORDS, 0, NULL, "holds no text");
    text_refused("ab\nc\xff", 5, MGB_WORDS, 0, NULL,
                 "line 2: byte 1 of it, 0xff, is no text in UTF-8");
    text_refused("ab\n\0c", 5, MGB_CHARACTERS, 0, NULL, "line 2: byte 0 of it, 0x00");
    text_refused("ab\n", 3, MGB_CHARACTERS, 1, NULL, "a vocabulary of 1 numbers; 2 at least");
    struct mgb_corpus *full = text_open("a b", MGB_WORDS, 0, NULL);
    text_refused("a b\nz", 5, MGB_WORDS, 0, full, "line 2: 'z' is not in the vocabulary given");
    text_refused("a b", 3, MGB_CHARACTERS, 0, full, "cannot use the vocabulary of");
    mgb_corpus_free(full);
    char *large = malloc(17 << 20);
    memset(large, 'x', 17 << 20);
    text_refused(large, 17 << 20, MGB_WORDS, 0, NULL, "line 1: longer than 16 MiB");
    free(large);
}

static void long_lines_are_read_in_parts(void **state)
{
    (void)state;
    enum { SIZE = 300000 };
    char *text = malloc(SIZE + 1);
    for (int i = 0; i < SIZE; i++)
        text[i] = "word "[i % 5];
    text[SIZE] = '\0';
    struct mgb_corpus *corpus = text_open(text, MGB_WORDS, 0, NULL);
    struct mgb_graph *graph = language_model(1, 9, false);
    struct mgb_source source;
    assert_int_equal(mgb_corpus_vocabulary(corpus), 1);
    assert_ok(mgb_source_text(&source, graph, corpus, "input", "label", 1, true));
    assert_int_equal(source.rows, SIZE / 5 - 1);
    mgb_source_close(&source);
    mgb_corpus_free(corpus);
    mgb_graph_free(graph);
    free(text);
}

static void bind_refused(struct mgb_graph *graph, const struct mgb_corpus *corpus, int seq,
                         const char *label, const char *words)
{
    struct mgb_source source;
    assert_status(mgb_source_text(&source, graph, corpus, "input", label, seq, true), MGB_INVALID);
    assert_message(words);
    mgb_graph_free(graph);
}

static void a_text_must_fit_the_model(void **state)
{
    (void)state;
    struct mgb_corpus *corpus = text_open("abcdefgh", MGB_CHARACTERS, 0, NULL);
    bind_refused(language_model(4, 5, false), corpus, 4, "label",
                 "'file' has a vocabulary of 8, but input 'input' of model 'lm' takes numbers 0 to "
                 "4: make the model with data.vocabulary, or the data with vocabulary = 5");
    bind_refused(language_model(4, 8, false), corpus, 5, "label",
                 "input 'input' of model 'lm' takes 4, but rows of the text are 5 long");
    bind_refused(language_model(4, 8, false), corpus, 4, "input",
                 "input 'input' is to be both the text and its label");
    struct mgb_graph *alone;
    int x;
    struct mgb_source source;
    assert_ok(mgb_graph_make(&alone, "alone"));
    assert_ok(mgb_graph_input(alone, &x, "label", &(struct mgb_shape){1, {4}}, MGB_I32));
    assert_status(mgb_source_text(&source, alone, corpus, NULL, "label", 4, true), MGB_INVALID);
    assert_message("model 'alone' has too few inputs besides 'label'");
    mgb_graph_free(alone);
    bind_refused(language_model(4, 8, false), corpus, 4, "next",
                 "data for input 'next': model 'lm' has no such input");
    bind_refused(language_model(8, 8, false), corpus, 8, "label",
                 "has 8 characters: too few for a row of 8 and the one that follows");
    mgb_corpus_free(corpus);
}

static void the_novel_is_read_from_gzip(void **state)
{
    (void)state;
    char path[512];
    const char *root = getenv("MGB_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/scripts/data/northanger-abbey.txt.gz", root ? root : ".");
    struct mgb_corpus *corpus;
    struct mgb_corpus_options options = {.path = path, .unit = MGB_CHARACTERS};
    assert_ok(mgb_corpus_text(&corpus, &options));
    assert_int_equal(mgb_corpus_vocabulary(corpus), 75);
    assert_string_equal(mgb_corpus_word(corpus, 0), " ");
    assert_string_equal(mgb_corpus_word(corpus, 1), "e");
    mgb_corpus_free(corpus);
}

#define PAIR(one, two, label)                                                                      \
    "{\"gold_label\": \"" label "\", \"sentence1\": \"" one "\", \"sentence2\": \"" two "\"}\n"

static void sentences_are_cut_and_filled_up(void **state)
{
    (void)state;
    struct mgb_graph *graph = pair_model(4);
    struct mgb_corpus *corpus;
    struct mgb_source source;
    struct mgb_corpus_options options = {.path = data_path};
    const char *const names[] = {"sentence1", "sentence2", "label"};
    data_write_text(PAIR("a a a b c", "a", "neutral")
                        PAIR("x", "y", "-") "\r\n" PAIR("b \\u0061", "c \\\"", "contradiction")
                            PAIR(" ", "a", "neutral") PAIR("b", "b a", "entailment") "\n \n");
    assert_ok(mgb_corpus_pairs(&corpus, &options));
    assert_int_equal(mgb_corpus_skipped(corpus), 2);
    assert_int_equal(mgb_corpus_vocabulary(corpus), 6); /* padding, unknown, a b c " */
    assert_null(mgb_corpus_word(corpus, 1));
    assert_string_equal(mgb_corpus_word(corpus, 2), "a");
    assert_string_equal(mgb_corpus_word(corpus, 5), "\"");
    assert_ok(mgb_source_pairs(&source, graph, corpus, names, true));
    rows_are(&source, (int[]){4, 4, 1, 0},
             "2 2 2 3 > 2 0 0 0 > 1 ; 3 2 0 0 > 4 5 0 0 > 2 ; 3 0 0 0 > 3 2 0 0 > 0 ; ");
    mgb_source_close(&source);
    struct mgb_corpus_options split = {.path = data_path, .as = corpus};
    struct mgb_corpus *test;
    data_write_text(PAIR("a z", "c", "neutral"));
    assert_ok(mgb_corpus_pairs(&test, &split));
    assert_ok(
        mgb_source_pairs(&source, graph, test, (const char *const[]){NULL, NULL, "label"}, true));
    rows_are(&source, (int[]){4, 4, 1, 0}, "2 1 0 0 > 4 0 0 0 > 1 ; ");
    mgb_source_close(&source);
    mgb_corpus_free(test);
    mgb_corpus_free(corpus);
    mgb_graph_free(graph);
}

static void bad_lines_of_json_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"", "holds no pair with a label (0 skipped)"},
        {PAIR("a", "b", "-"), "holds no pair with a label (1 skipped)"},
        {PAIR("a", "b", "maybe"), "line 1: gold_label is 'maybe'; entailment, neutral,"},
        {"\n\n[\n", "line 3: '{' expected at byte 0 of the line, '[' found"},
        {"\r\n \n", "holds no pair with a label (0 skipped)"},
        {PAIR("a", "b", "neutral") "[]\n", "line 2: '{' expected at byte 0 of the line, '[' found"},
        {"{\"sentence1\": \"a\"}\n", "line 1: sentence2 is missing"},
        {"{\"sentence1\": \"a\", \"sentence1\": \"b\"}\n", "line 1: sentence1 twice"},
        {"{\"sentence1\": 1}\n", "line 1: a text expected at byte 14 of the line, '1' found"},
        {"{\"x\": [1, {\"y\": 01}]}\n", "line 1: byte 16 of the line: no value of JSON"},
        {"{\"sentence1\": \"\\x\"}\n", "line 1: byte 15 of the line is no character of a text"},
        {"{\"sentence1\": \"a\n", "line 1: byte 16 of the line is no character of a text"},
        {"{\"a\": 1} {}\n", "line 1: the end expected at byte 9"},
        {"{\"a\": \"\x80\"}\n", "line 1: byte 7 of it, 0x80, is no text in UTF-8"},
        {"{\"a\": \"\\ud800\"}\n", "line 1: byte 7 of the line is no character"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct mgb_corpus *corpus;
        struct mgb_corpus_options options = {.path = data_path};
        data_write_text(wrong[i].text);
        if (mgb_corpus_pairs(&corpus, &options) == MGB_OK)
            fail_msg("taken: %s", wrong[i].text);
        assert_message(wrong[i].words);
        assert_message(data_path);
    }
}

static void pairs_must_fit_the_model(void **state)
{
    (void)state;
    struct mgb_graph *graph = pair_model(4);
    struct mgb_corpus *corpus;
    struct mgb_source source;
    struct mgb_corpus_options options = {.path = data_path};
    data_write_text(PAIR("a", "b", "neutral"));
    assert_ok(mgb_corpus_pairs(&corpus, &options));
    assert_status(mgb_source_pairs(&source, graph, corpus,
                                   (const char *const[]){"sentence1", "label", "sentence2"}, true),
                  MGB_INVALID);
    assert_message("input 'label' of model 'pairs' is no list of numbers; a sentence takes one");
    assert_status(mgb_source_pairs(&source, graph, corpus,
                                   (const char *const[]){"sentence1", "sentence1", "label"}, true),
                  MGB_INVALID);
    assert_message("input 'sentence1' is to be two things of a pair");
    assert_status(mgb_source_pairs(&source, graph, corpus,
                                   (const char *const[]){"sentence1", "sentence2", "sentence1"},
                                   true),
                  MGB_INVALID);
    assert_message("input 'sentence1' of model 'pairs' takes no label");
    mgb_corpus_free(corpus);
    mgb_graph_free(graph);
}

static void a_digest_tells_files_apart(void **state)
{
    (void)state;
    uint64_t a, b, c;
    data_write_text("one");
    assert_ok(mgb_file_digest(&a, data_path));
    assert_ok(mgb_file_digest(&c, data_path));
    data_write_text("two");
    assert_ok(mgb_file_digest(&b, data_path));
    assert_true(a == c && a != b);
    assert_status(mgb_file_digest(&a, "/tmp/mgb-test-none"), MGB_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_numbered_by_frequency_then_appearance),
        cmocka_unit_test(words_are_letters_with_apostrophes_between),
        cmocka_unit_test(what_is_beyond_the_vocabulary_is_one_number),
        cmocka_unit_test(a_limit_that_is_not_reached_still_leaves_room_for_the_unknown),
        cmocka_unit_test(a_bad_text_is_refused_with_its_line),
        cmocka_unit_test(long_lines_are_read_in_parts),
        cmocka_unit_test(a_text_must_fit_the_model),
        cmocka_unit_test(the_novel_is_read_from_gzip),
        cmocka_unit_test(sentences_are_cut_and_filled_up),
        cmocka_unit_test(bad_lines_of_json_are_refused),
        cmocka_unit_test(pairs_must_fit_the_model),
        cmocka_unit_test(a_digest_tells_files_apart),
    };
    return cmocka_run_group_tests(tests, data_folder_make, data_folder_remove);
}
