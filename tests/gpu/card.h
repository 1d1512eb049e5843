/* The GPUs that the tests of this folder run on: real ones with MGB_GPU=1, and with MGB_GPU=fake those of the fake CUDA
 * runtime, where the same programs look at less. Without MGB_GPU they are skipped: nobody's GPU is taken unasked. */
#ifndef MGB_TESTS_GPU_CARD_H
#define MGB_TESTS_GPU_CARD_H

#include "engine/backend/backend.h"

struct card {
    const struct mgb_backend *cuda;
    int count;     /* GPUs that are visible */
    bool fake;     /* devices made of threads: small sizes, few draws */
    unsigned seed; /* of fresh inputs: MGB_SEED, or drawn anew and printed */
};
extern struct card card;

/* Finds the GPUs and prints what they are. 0, or the exit code of a test that is skipped, with the reason printed; 1 when
 * MGB_GPU=1 met devices that are none. */
int card_find(void);

/* `real` of something on a real GPU, `fake` on a fake one. */
int card_count(int real, int fake);

#endif
