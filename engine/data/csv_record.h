/* The records of a CSV file (RFC 4180): fields in quotes or not, lines that end in LF or CR LF. */
#ifndef MGB_DATA_CSV_RECORD_H
#define MGB_DATA_CSV_RECORD_H

#include "engine/base/vector.h"
#include "engine/data/stream.h"

struct mgb_csv_record {
    struct mgb_stream stream;
    char separator;
    int64_t line; /* at which it began */
    bool blank;   /* an empty line */
    char *chars;  /* its fields, each ended by 0 */
    size_t used, room;
    mgb_vector(size_t) fields; /* where they begin */
};

enum mgb_status mgb_csv_open(struct mgb_csv_record *out, const char *path, char separator);
void mgb_csv_close(struct mgb_csv_record *record);
/* The next record; *some false: there is none. */
enum mgb_status mgb_csv_next(bool *some, struct mgb_csv_record *record);
const char *mgb_csv_field(const struct mgb_csv_record *record, int field);

#endif
