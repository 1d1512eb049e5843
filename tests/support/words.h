/* A model of one table: numbers looked up, compared with a target; its gradient may travel as the rows it touches. */
#ifndef MGB_TESTS_WORDS_H
#define MGB_TESTS_WORDS_H

#include <mgb/model.h>

struct words {
    int positions, vocabulary, units;
    float weight; /* of the loss; 0: 1 */
    int uses;     /* of the table, added up; 0: 1. More than one: its gradient is a sum */
    int towers;   /* that have a table each; 0: all have one */
};

/* Inputs "ids" of `positions` and "target" of positions x units; variable 0 is the table. */
struct mgb_graph *words_make(struct words words);

/* Bytes of the rows that `rows` examples can touch: a number and `units` values a position; and of the table. */
int64_t words_packed(struct words words, int rows);
int64_t words_whole(struct words words);

#endif
