/* A locale that writes 1,5 for one and a half. */
#ifndef MGB_TESTS_LOCALE_H
#define MGB_TESTS_LOCALE_H

#include <stdbool.h>

/* Sets such a locale for the process, made with localedef in a temporary folder where none is installed. False when
 * that cannot be had either: exit with 77. */
bool mgb_test_comma_locale(void);

#endif
