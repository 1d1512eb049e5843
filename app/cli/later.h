/* Commands of a later version. */
#ifndef MGB_APP_CLI_LATER_H
#define MGB_APP_CLI_LATER_H

struct mgb_later_command {
    const char *name, *instead; /* what to use meanwhile */
};

extern const struct mgb_later_command mgb_later_commands[]; /* ended by a NULL name */

/* In a list that may be NULL. NULL: no such command. */
const struct mgb_later_command *mgb_later_find(const struct mgb_later_command *list,
                                               const char *name);

#endif
