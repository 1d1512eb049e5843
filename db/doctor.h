/* Looking a results file over without changing it: is it whole, who has it open, is its disk fit for it. */
#ifndef MGB_DB_DOCTOR_H
#define MGB_DB_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

enum mgb_symptom_level {
    MGB_SYMPTOM_OK,   /* as it should be, or not to be known here */
    MGB_SYMPTOM_WARN, /* can make figures or work worse */
    MGB_SYMPTOM_FAIL  /* stops work, or rows are lost */
};

struct mgb_symptom { /* texts are borrowed */
    enum mgb_symptom_level level;
    const char *what; /* one word or two: "wal", "governor" */
    const char *text; /* what was found */
    const char *mend; /* what to do about it; NULL: nothing */
};

struct mgb_symptom_sink {
    void (*take)(void *context, const struct mgb_symptom *symptom);
    void *context;
};

/* Words a symptom. `mend` may be NULL. */
void mgb_symptom_say(const struct mgb_symptom_sink *sink, enum mgb_symptom_level level,
                     const char *what, const char *mend, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

struct mgb_doctor_options {
    bool thorough;               /* indexes and references too: reads all of the file twice */
    bool (*stop)(void *context); /* asked while the file is read; may be NULL */
    int64_t free_bytes;          /* tests: as if so much of the disk were free; 0: ask it */
};

/* The process must have no other connection to the file. False: there is no such file, which is told too. */
bool mgb_doctor_database(const struct mgb_symptom_sink *sink, const char *path,
                         const struct mgb_doctor_options *options);

/* Who uses a write-ahead log, read from its index without SQLite. */
struct mgb_wal_use {
    int64_t log_bytes;  /* of FILE-wal; 0: none */
    bool open;          /* some process has the file open */
    int64_t writer_pid; /* inside a write transaction; 0: nobody, -1: somebody who cannot be told */
    int64_t reader_pid; /* of the reader that looks at the oldest state; as writer_pid */
    int64_t reader_frames; /* how many pages were written since */
};
/* Opens and closes files of the database: see above. */
void mgb_doctor_wal_look(struct mgb_wal_use *out, const char *path);

#endif
