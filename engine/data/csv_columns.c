/* See csv_columns.h. */
#include "engine/data/csv_columns.h"

#include "engine/base/json.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include <mgb/text.h>
#include <string.h>

enum mgb_status mgb_csv_header_read(struct mgb_csv_header *out, const struct mgb_csv_record *record,
                                    bool titles)
{
    int width = record->fields.count;
    *out = (struct mgb_csv_header){.width = width};
    if (!titles)
        return MGB_OK;
    out->titles = mgb_alloc((size_t)width * sizeof *out->titles);
    for (int i = 0; out->titles && i < width; i++) {
        out->titles[i] = mgb_copy_string(mgb_csv_field(record, i));
        if (!out->titles[i]) {
            mgb_csv_header_done(out);
            break;
        }
    }
    return out->titles ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "no memory for %d titles", width);
}

void mgb_csv_header_done(struct mgb_csv_header *header)
{
    for (int i = 0; header->titles && i < header->width; i++)
        mgb_release(header->titles[i]);
    mgb_release(header->titles);
    header->titles = NULL;
}

const char *mgb_csv_title(const struct mgb_csv_header *header, int column)
{
    return header->titles ? header->titles[column] : NULL;
}

struct find {
    const struct mgb_csv_header *header;
    const char *path, *input;
};

/* The column with exactly this title; -1: none, -2: several. */
static int title_find(const struct mgb_csv_header *header, const char *name, size_t length)
{
    int found = -1;
    for (int i = 0; header->titles && i < header->width; i++)
        if (strlen(header->titles[i]) == length && memcmp(header->titles[i], name, length) == 0)
            found = found == -1 ? i : -2;
    return found;
}

static int number_find(const struct mgb_csv_header *header, const char *name, size_t length)
{
    int value = 0;
    for (size_t i = 0; i < length; i++) {
        if (name[i] < '0' || name[i] > '9' || value > header->width)
            return -1;
        value = 10 * value + name[i] - '0';
    }
    return value <= header->width ? value - 1 : -1;
}

static enum mgb_status no_such_column(const struct find *find, const char *name, size_t length)
{
    char wanted[MGB_JSON_SHOWN], shown[MGB_JSON_SHOWN], hint[MGB_JSON_SHOWN + 24] = "";
    mgb_format(wanted, sizeof wanted, "%.*s", length < 80 ? (int)length : 80, name);
    const char *near = find->header->titles
                           ? mgb_nearest_name(wanted, (const char *const *)find->header->titles,
                                              find->header->width)
                           : NULL;
    if (near)
        mgb_format(hint, sizeof hint, "; did you mean '%s'?", mgb_json_show(shown, near));
    return mgb_fail(MGB_INVALID, "input '%s': '%s' has no column '%s' among its %d%s%s",
                    find->input, find->path, wanted, find->header->width,
                    find->header->titles ? "" : ", which have numbers only", hint);
}

static enum mgb_status column_find(int *out, const struct find *find, const char *name,
                                   size_t length)
{
    int found = title_find(find->header, name, length);
    if (found == -2)
        return mgb_fail(MGB_INVALID,
                        "input '%s': '%s' has several columns '%.*s'; give the number of one",
                        find->input, find->path, length < 80 ? (int)length : 80, name);
    if (found == -1)
        found = number_find(find->header, name, length);
    *out = found;
    return found < 0 ? no_such_column(find, name, length) : MGB_OK;
}

static enum mgb_status columns_add(struct mgb_csv_columns *out, const struct find *find,
                                   const char *name)
{
    const char *colon = strchr(name, ':');
    int first, last;
    if (!colon || title_find(find->header, name, strlen(name)) >= 0) {
        MGB_TRY(column_find(&first, find, name, strlen(name)));
        last = first;
    } else {
        MGB_TRY(column_find(&first, find, name, (size_t)(colon - name)));
        MGB_TRY(column_find(&last, find, colon + 1, strlen(colon + 1)));
    }
    if (last < first)
        return mgb_fail(MGB_INVALID, "input '%s': columns '%s' of '%s' run backwards", find->input,
                        name, find->path);
    int *grown = mgb_realloc(out->at, (size_t)(out->count + last - first + 1) * sizeof *grown);
    if (!grown)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the columns of '%s'", find->path);
    out->at = grown;
    for (int i = first; i <= last; i++)
        out->at[out->count++] = i;
    return MGB_OK;
}

enum mgb_status mgb_csv_columns_find(struct mgb_csv_columns *out,
                                     const struct mgb_csv_header *header,
                                     const struct mgb_csv_input *asked, const char *path)
{
    struct find find = {header, path, asked->input};
    for (int i = 0; i < asked->count; i++)
        MGB_TRY(columns_add(out, &find, asked->columns[i]));
    return MGB_OK;
}
