/* A file that is replaced as a whole or not at all: written under another name beside it, renamed at the end. */
#ifndef MGB_DB_EXPORT_FILE_H
#define MGB_DB_EXPORT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include <mgb/status.h>

struct mgb_export_file {
    FILE *out;
    char *path;    /* what it will be called, symbolic links followed */
    char *given;   /* the same as it was asked for, for messages */
    char *partial; /* what it is called meanwhile; NULL: a device or pipe, written directly */
};

/* MGB_IO: it cannot be made. */
enum mgb_status mgb_export_file_open(struct mgb_export_file *out, const char *path);
/* On the disk and under its name, or MGB_IO and the old file as it was. */
enum mgb_status mgb_export_file_commit(struct mgb_export_file *file);
/* Ends it under its partial name, which stays (`keep`) or is removed; the old file is as it was. */
enum mgb_status mgb_export_file_leave(struct mgb_export_file *file, bool keep);
void mgb_export_file_done(struct mgb_export_file *file);

#endif
