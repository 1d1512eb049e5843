/* Words that name runs, wherever a command or a script takes one:
 *
 *   12            a run, by its last segment that has figures      12.2          its second segment
 *   5-9           the runs with these numbers
 *   last, last~1  the run started last, the one before                tag:NAME      every run with the tag
 *   baseline:NAME the segments that are the baseline               sweep:NAME    every point of a sweep
 *   sweep:NAME/3  all repetitions of its point 3, in grid order, from 0
 *   sweep:NAME@7  the points as row 7 of the table sweep defined them, where a name was defined anew since (NAME@7/3, too)
 *
 * and several of them with commas between: repetitions of one side. A run that is a point of a sweep stands for itself. */
#ifndef MGB_DB_SELECT_H
#define MGB_DB_SELECT_H

#include <stddef.h>

#include "db/query.h"

#define MGB_SELECT_WORDS                                                                           \
    "12, 5-9, 12.2, last, last~1, tag:NAME, baseline:NAME, sweep:NAME, sweep:NAME/3 or "           \
    "sweep:NAME@ID"

/* SQL: what makes rows `w` of sweep one definition: the grid and what is common to all points. */
#define MGB_SELECT_DEFINITION                                                                      \
    "json_array(json_extract(w.settings, '$.grid'), json_extract(w.settings, '$.common'))"

struct mgb_selected {
    int64_t run;
    int64_t segment; /* the last one with figures, else the last; 0: the run has none */
    int64_t point;   /* chosen as a point of a sweep: its index in grid order; else -1 */
    int64_t repeat;  /* of that point; else 0 */
};

struct mgb_selection {
    struct mgb_selected
        *segments; /* in the order of the words; sweeps by point and repetition, tags by age */
    size_t count;  /* at least 1 after MGB_OK; nothing twice */
};

/* MGB_INVALID: not such a word. MGB_MISSING: nothing of that name or number; the message tells what there is. */
enum mgb_status mgb_select(struct mgb_selection *out, struct mgb_reader *reader, const char *text);
void mgb_selection_done(struct mgb_selection *selection);

/* What to know of what the words name: "sweep 'mnist' was defined 2 times; these are the points of the newest (id 7); the
 * other: sweep:mnist@3"; "" for nothing. */
enum mgb_status mgb_select_remark(char *out, size_t size, struct mgb_reader *reader,
                                  const char *text);

/* The same where one run is meant; MGB_INVALID when the words name several. */
enum mgb_status mgb_select_one(struct mgb_selected *out, struct mgb_reader *reader,
                               const char *text);

#endif
