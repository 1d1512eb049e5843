/* Which columns of a CSV file are meant: by name, by number from 1, or from one to another. */
#ifndef MGB_DATA_CSV_COLUMNS_H
#define MGB_DATA_CSV_COLUMNS_H

#include "engine/data/csv_record.h"
#include <mgb/data.h>

struct mgb_csv_header {
    int width;
    char **titles; /* NULL: the file has none */
};

struct mgb_csv_columns {
    int *at; /* from 0 (mgb_release) */
    int count;
};

/* Takes the first record: its width, and its fields as titles where they are. */
enum mgb_status mgb_csv_header_read(struct mgb_csv_header *out, const struct mgb_csv_record *record,
                                    bool titles);
void mgb_csv_header_done(struct mgb_csv_header *header);
/* NULL: it has none. */
const char *mgb_csv_title(const struct mgb_csv_header *header, int column);
/* MGB_INVALID names what there is no column for, and the nearest. */
enum mgb_status mgb_csv_columns_find(struct mgb_csv_columns *out,
                                     const struct mgb_csv_header *header,
                                     const struct mgb_csv_input *asked, const char *path);

#endif
