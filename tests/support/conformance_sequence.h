/* Graphs of recurrent layers and embeddings for the conformance checks. */
#ifndef MGB_TESTS_CONFORMANCE_SEQUENCE_H
#define MGB_TESTS_CONFORMANCE_SEQUENCE_H

struct mgb_graph *conformance_words_make(void);
struct mgb_graph *conformance_lstm_make(void);
struct mgb_graph *conformance_lstm_short_make(void);
struct mgb_graph *conformance_gru_make(void);
struct mgb_graph *conformance_gru_before_make(void);

#endif
