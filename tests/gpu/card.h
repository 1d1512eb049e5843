/* The GPUs that the tests of this folder run on: real ones with MGB_GPU=1, or MGB_GPU=brief for the least of it; with
 * MGB_GPU=fake those of the fake CUDA runtime. Without it they are skipped: nobody's GPU is taken unasked. */
#ifndef MGB_TESTS_GPU_CARD_H
#define MGB_TESTS_GPU_CARD_H

#include "engine/backend/backend.h"

struct card {
    const struct mgb_backend *cuda;
    int count;     /* GPUs that are visible */
    bool fake;     /* devices made of threads */
    bool brief;    /* small sizes, few draws; fake ones always */
    unsigned seed; /* of fresh inputs: MGB_SEED, or drawn anew and printed */
};
extern struct card card;

/* Finds the GPUs and prints what they are. 0, or the exit code of a test that is skipped, with the reason printed; 1 when
 * MGB_GPU=1 met devices that are none. */
int card_find(void);

/* How many of something: `few` where it must be brief. */
int card_count(int many, int few);

#endif
