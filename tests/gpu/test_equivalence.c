/* The equivalence suite of the CUDA backend (tests/engine/cuda/test_equivalence.c, built with another name for its main) on
 * the GPUs that there are: its up to eight towers are logical devices, dealt out over the cards. */
#include "tests/gpu/card.h"

int equivalence_main(void);

int main(void)
{
    int missing = card_find();
    return missing ? missing : equivalence_main();
}
