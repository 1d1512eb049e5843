/* What was done so far, as statements of the script language: written out they repeat it to the last bit. */
#ifndef APP_SESSION_WORKBENCH_STATEMENTS_H
#define APP_SESSION_WORKBENCH_STATEMENTS_H

#include <mgb/status.h>
#include <stdbool.h>
#include <stdint.h>

struct mgb_statements;

enum mgb_status mgb_statements_make(struct mgb_statements **out);
void mgb_statements_free(struct mgb_statements *statements); /* NULL is allowed */

/* A statement or comment, without its newline. MGB_NO_MEMORY: what is written later would not repeat what was done, and
 * mgb_statements_write says so. */
enum mgb_status mgb_statements_add(struct mgb_statements *statements, const char *text);
/* `s = ...`: ends what was open and opens another session, at its first statement. */
enum mgb_status mgb_statements_open(struct mgb_statements *statements, const char *constructor);
/* Steps right after steps are one statement. */
enum mgb_status mgb_statements_step(struct mgb_statements *statements, int64_t steps);
enum mgb_status mgb_statements_close(struct mgb_statements *statements);
/* Something was done that could not be noted: as after MGB_NO_MEMORY of the others. */
void mgb_statements_lose(struct mgb_statements *statements);
bool mgb_statements_is_complete(const struct mgb_statements *statements);
bool mgb_statements_is_empty(const struct mgb_statements *statements);

/* The whole as a script, to be freed; prints figures and digest of each session. `digest`: that the session that is open has
 * now, which the script's must have too, or it fails; NULL, "": not known. NULL: memory was out, now or before. */
char *mgb_statements_write(const struct mgb_statements *statements, const char *version,
                           const char *digest);

#endif
