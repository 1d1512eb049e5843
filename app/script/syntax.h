/* Whether a text can be read as an expression of Lua, without a script state. */
#ifndef MGB_APP_SCRIPT_SYNTAX_H
#define MGB_APP_SCRIPT_SYNTAX_H

#include <mgb/status.h>
#include <stddef.h>

/* MGB_INVALID where Lua cannot read the first `length` bytes; the message begins with "NAME:LINE:". Nothing is run. */
enum mgb_status mgb_syntax_check(const char *name, const char *text, size_t length);

#endif
