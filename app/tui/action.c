/* See action.h: the table of actions and what is looked up in it. */
#include "app/tui/action.h"

#include <stdbool.h>
#include <string.h>

const struct tui_action_info tui_actions[TUI_ACT_COUNT] = {
#define X(id, name, key, other, where, help) [TUI_ACT_##id] = {name, key, other, help, where},
    TUI_ACTIONS(X)
#undef X
};

static bool has_key(const struct tui_action_info *action, int key)
{
    return tui_key_read(action->key) == key ||
           (*action->other && tui_key_read(action->other) == key);
}

enum tui_action tui_action_of_key(int key, unsigned where)
{
    if (key == TUI_KEY_NONE)
        return TUI_ACT_NONE;
    for (int i = 0; i < TUI_ACT_COUNT; i++)
        if ((tui_actions[i].where & where) && has_key(&tui_actions[i], key))
            return (enum tui_action)i;
    return TUI_ACT_NONE;
}

enum tui_action tui_action_find(const char *name)
{
    for (int i = 0; i < TUI_ACT_COUNT; i++)
        if (strcmp(tui_actions[i].name, name) == 0)
            return (enum tui_action)i;
    return TUI_ACT_NONE;
}
