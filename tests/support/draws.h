/* Models and placements for the suites that compare runs: a few small models that cover what placement can get wrong, and
 * placements drawn by number, so that a failure names the draw that reproduces it. */
#ifndef MGB_TESTS_DRAWS_H
#define MGB_TESTS_DRAWS_H

#include <mgb/model.h>
#include <stdbool.h>
#include <stddef.h>

/* 0: dense only; 1: convolution, pooling and dropout; 2: shared layers, two losses, a concat; from 3 on: random. */
struct mgb_graph *draw_model(int number);
/* Does it normalise by the batch? Then each tower does by its own rows, and other towers give other losses, unless bn = sync. */
bool draw_sees_towers(const struct mgb_graph *graph);

/* Places of strategy "outputs" or "gradients" on `gpus` towers, all that have a meaning there, as "weights_at=/cpu:0 ...".
 * The same number gives the same text; 0 gives the defaults. */
void draw_places(char *out, size_t size, const char *strategy, int gpus, int number);

/* MGB_LONG=1 asks for the wide version of a suite. */
bool draw_long(void);
/* How many of something a suite tries: `wide` ones in the wide version, half of `few` under a sanitizer. */
int draw_count(int few, int wide);

#endif
