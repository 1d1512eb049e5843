/* See words.h. */
#include "app/tui/words.h"

#include <string.h>

const char *tui_device_words(const char *name)
{
    return *name == '/' && !strchr(name + 1, '/') ? name + 1 : name;
}

const char *tui_device_at(const struct mgb_facts *facts, int device)
{
    bool there = device >= 0 && device < facts->device_count;
    return there ? tui_device_words(facts->devices[device].name) : "?";
}

int tui_device_columns(const struct mgb_facts *facts)
{
    enum { LEAST = 6, MOST = 13 };
    int columns = LEAST;
    for (int i = 0; i < facts->device_count && columns < MOST; i++) {
        int length = (int)strlen(tui_device_at(facts, i));
        columns = length > columns ? length : columns;
    }
    return columns < MOST ? columns : MOST;
}

bool tui_device_is_gpu(const struct mgb_facts_device *device)
{
    return strstr(device->name, "gpu:") != NULL;
}

const char *tui_class_words(enum mgb_device_class class)
{
    switch (class) {
    case MGB_CLASS_CPU:
        return "CPU device";
    case MGB_CLASS_CUDA:
        return "CUDA GPU";
    case MGB_CLASS_SIMULATED:
        return "simulated";
    }
    return "?";
}

static const struct {
    char letter;
    const char *word;
    int series;
} categories[MGB_MEMORY_CATEGORY_COUNT] = {
    [MGB_MEMORY_WEIGHTS] = {'w', "weights", 0},   [MGB_MEMORY_REPLICAS] = {'r', "replicas", 1},
    [MGB_MEMORY_GRADIENTS] = {'g', "grads", 2},   [MGB_MEMORY_SLOTS] = {'s', "slots", 3},
    [MGB_MEMORY_ACTIVATIONS] = {'a', "activ", 4}, [MGB_MEMORY_WORKSPACE] = {'k', "work", 5},
    [MGB_MEMORY_MERGE] = {'m', "merge", 6},       [MGB_MEMORY_LEFTOVER] = {'x', "leftover", 7},
    [MGB_MEMORY_INPUT] = {'i', "input", 7},
};

char tui_category_letter(enum mgb_memory_category category)
{
    return categories[category].letter;
}

const char *tui_category_word(enum mgb_memory_category category)
{
    return categories[category].word;
}

enum tui_style tui_category_style(enum mgb_memory_category category)
{
    return (enum tui_style)(TUI_SERIES + categories[category].series);
}
