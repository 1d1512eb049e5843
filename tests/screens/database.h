/* SQL on the file of a program while that runs, by SQLite itself: what stands on a screen is held against it. */
#ifndef TESTS_SCREENS_DATABASE_H
#define TESTS_SCREENS_DATABASE_H

#include "tests/screens/program.h"

/* The first value of the first row; NaN: NULL, no row or no file. The SQL is formatted as by printf. */
double database_number(struct program *program, const char *sql, ...)
    __attribute__((format(printf, 2, 3)));
/* The same as a text, "" for what would be NaN; borrowed until the next call. */
const char *database_text(struct program *program, const char *sql, ...)
    __attribute__((format(printf, 2, 3)));

/* Another program that writes: holds BEGIN IMMEDIATE until it is let go. */
struct database_holder;
struct database_holder *database_hold(struct program *program);
void database_let_go(struct database_holder *holder);

/* Numbers as screens show them: four digits; sizes with their unit. Borrowed until the fourth call after it. */
const char *number_text(double value);
const char *bytes_text(double bytes);

#endif
