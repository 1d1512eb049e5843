/* Is a screen like a picture of it that was taken at another time, on another machine? Labels, words, order and columns must
 * be equal; numbers need not, and what else a measurement decides is masked by the caller. */
#ifndef TESTS_SCREENS_LIKENESS_H
#define TESTS_SCREENS_LIKENESS_H

#include <stdbool.h>
#include <stddef.h>

struct likeness_mask { /* ended by a NULL regex */
    const char *regex; /* extended; of a line as it stands on the screen */
    const char *put;   /* for its match; "\1" is its first group */
};

/* NULL: they are alike, else what differs, borrowed until the next call. Lines end with a newline. */
const char *likeness_differs(const char *screen, const char *picture,
                             const struct likeness_mask *masks);

#endif
