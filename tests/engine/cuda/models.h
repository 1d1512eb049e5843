/* Models that the tests of the CUDA backend train. */
#ifndef MGB_TESTS_CUDA_MODELS_H
#define MGB_TESTS_CUDA_MODELS_H

#include "tests/support/model.h"

/* Convolution, pooling, dropout, and batch norm of an image and of a dense layer. */
struct mgb_graph *machine_image_model(void);
/* A word after each of five, from the state of an lstm. */
struct mgb_graph *machine_language_model(void);
/* A block of a transformer over four words. */
struct mgb_graph *machine_transformer_model(void);

/* A convolution with windows, groups and padding drawn by machine_drawn. */
struct mgb_graph *machine_drawn_convolution(void);
extern int machine_drawn;

#define MACHINE_MODELS 4
/* 0: the MLP of tests/support; 1 to 3: the above. */
struct mgb_graph *machine_model(int number);

#endif
