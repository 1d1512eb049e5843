/* The table of mgbench-tui: words, options, keys. */
#ifndef MGB_APP_TUI_MANUAL_H
#define MGB_APP_TUI_MANUAL_H

#include "app/cli/manual.h"

/* `run` is what it does without a hidden command. */
const struct mgb_manual *mgb_manual_tui(int (*run)(struct mgb_invocation *in));

#endif
