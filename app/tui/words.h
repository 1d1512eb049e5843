/* What several views call the same things: devices, kinds of them, categories of memory. Texts are static or borrowed. */
#ifndef APP_TUI_WORDS_H
#define APP_TUI_WORDS_H

#include "app/session/workbench/facts.h"
#include "app/tui/canvas.h"

/* "gpu:0" of "/gpu:0"; the whole name of a device of another host. */
const char *tui_device_words(const char *name);
/* The same of a row of the facts; "?" where there is no such row. */
const char *tui_device_at(const struct mgb_facts *facts, int device);
/* Columns that the longest of them needs, 6 to 13. */
int tui_device_columns(const struct mgb_facts *facts);
bool tui_device_is_gpu(const struct mgb_facts_device *device); /* what towers run on */
/* What it really is: "CPU device", "CUDA GPU", "simulated". */
const char *tui_class_words(enum mgb_device_class class);

/* The letter that stands for a category in bars, a word short enough for a legend, a style. */
char tui_category_letter(enum mgb_memory_category category);
const char *tui_category_word(enum mgb_memory_category category);
enum tui_style tui_category_style(enum mgb_memory_category category);

#endif
