/* What mgbench show tells of a run, as questions to the results database. */
#ifndef MGB_APP_CLI_SHOW_SECTIONS_H
#define MGB_APP_CLI_SHOW_SECTIONS_H

enum mgb_show_kind {
    MGB_SHOW_WIDE,  /* one row: its columns are shown below each other, the unknown ones left out */
    MGB_SHOW_PAIRS, /* rows of a name and a value */
    MGB_SHOW_TABLE
};

struct mgb_show_section {
    const char *name, *title; /* title: what people read above it */
    enum mgb_show_kind kind;
    const char *sql;
    int parameters; /* ?1 the run, ?2 the segment, ?3 the run's outcome as far as can be told now */
};

extern const struct mgb_show_section mgb_show_sections[]; /* ended by a NULL name */

#endif
