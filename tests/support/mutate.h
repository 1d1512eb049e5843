/* Damages an SQLite file's bytes in the ways that matter: at random, in headers, in cells, in the text of its schema. */
#ifndef TESTS_SUPPORT_MUTATE_H
#define TESTS_SUPPORT_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* One to four damages to `data` of *size, which may grow up to `room`. The same seed does the same. */
void mutate_file(unsigned char *data, size_t *size, size_t room, uint64_t seed);

#endif
