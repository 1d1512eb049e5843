/* Damages a safetensors file's bytes in the ways that matter: its length of the header, the header's words and numbers, its
 * end; and at random. */
#ifndef MGB_TESTS_IO_DAMAGE_H
#define MGB_TESTS_IO_DAMAGE_H

#include <stddef.h>
#include <stdint.h>

/* One to three damages to `data` of *size, which may grow up to `room`. The same seed does the same. */
void io_damage(unsigned char *data, size_t *size, size_t room, uint64_t seed);

#endif
