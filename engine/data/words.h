/* Cuts a text into words: runs of letters and digits with apostrophes between them; every other character but a blank
 * stands for itself. Letters are those of ASCII and all beyond U+00BF but general punctuation. */
#ifndef MGB_DATA_WORDS_H
#define MGB_DATA_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mgb_character { MGB_BLANK, MGB_LETTER, MGB_APOSTROPHE, MGB_SIGN };
enum mgb_character mgb_character_kind(uint32_t point);
/* Bytes of the word or sign at the start of `text` (`*skipped` blanks before it); 0: only blanks are left. What is no UTF-8
 * counts as letters. */
size_t mgb_word_next(const char *text, size_t size, size_t *skipped);

#endif
