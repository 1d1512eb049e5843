/* A results file that may come later, go and be replaced, as its readers see it: opened when it is asked for. One thread's. */
#ifndef APP_SESSION_WORKBENCH_RESULTS_FILE_H
#define APP_SESSION_WORKBENCH_RESULTS_FILE_H

#include "db/query.h"

#include <sys/types.h>

struct mgb_results_file {      /* zeroed, but for the path */
    char *path;                /* the caller's */
    struct mgb_reader *reader; /* NULL: not open */
    dev_t device;
    ino_t inode;
};

/* The reader of the file that lies there now, to be used until the next call. Fails as mgb_reader_open does. */
enum mgb_status mgb_results_file_get(struct mgb_reader **out, struct mgb_results_file *file);
void mgb_results_file_close(struct mgb_results_file *file);

#endif
