/* Where other programs are. */
#ifndef MGB_APP_CLI_PROGRAMS_H
#define MGB_APP_CLI_PROGRAMS_H

/* Where the shell would find a program; to be freed, NULL: nowhere. */
char *mgb_cli_program_find(const char *name);
/* The one in the folder of this program, else the shell's; to be freed, NULL: nowhere. */
char *mgb_cli_program_beside(const char *name);

#endif
