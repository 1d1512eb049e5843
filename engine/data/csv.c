/* A source from columns of a CSV file: numbers, or one column of names as classes. Read once, kept as f32 and i32. */
#include "engine/base/json.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/data/bind.h"
#include "engine/data/csv_columns.h"
#include "engine/data/csv_record.h"
#include "engine/data/stored.h"
#include "engine/data/vocabulary.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum kind { UNDECIDED, NUMBERS, NAMES };

struct column_input {
    struct mgb_csv_columns columns;
    int index; /* of the model's inputs */
    enum mgb_type type;
    enum kind kind;
    struct mgb_vocabulary names;
    bool names_given;
};

struct reading {
    const struct mgb_graph *graph;
    const struct mgb_csv *csv;
    struct mgb_csv_record record;
    struct mgb_csv_header header;
    struct column_input *inputs; /* as many as csv->count */
    struct mgb_stored_input *stored;
    int64_t rows, room;
};

/* "'f.csv', line 7, column 3 ('width'): 'x' is no number" */
static enum mgb_status field_fail(const struct reading *r, int column, const char *what)
{
    char shown[MGB_JSON_SHOWN], name[MGB_JSON_SHOWN];
    const char *field = mgb_csv_field(&r->record, column), *path = r->csv->path;
    const char *title = mgb_csv_title(&r->header, column);
    mgb_json_show(shown, field);
    return mgb_fail(MGB_CORRUPT, "'%s', line %lld, column %d%s%s%s: %s%s%s%s", path,
                    (long long)r->record.line, column + 1, title ? " ('" : "",
                    title ? mgb_json_show(name, title) : "", title ? "')" : "", *field ? "'" : "",
                    *field ? shown : "empty", *field ? "' " : "; ", what);
}

/* Digits, one point and an exponent, blanks around them; nothing else that C would take for a number. */
static bool number_read(double *out, const char *field)
{
    field += strspn(field, " \t");
    size_t length = strspn(field, "0123456789+-.eE");
    char *end;
    if (length == 0 || field[length + strspn(field + length, " \t")])
        return false;
    *out = mgb_number_read(field, &end);
    return end == field + length;
}

static enum mgb_status name_store(struct reading *r, struct column_input *input, int column,
                                  int32_t *to)
{
    const char *field = mgb_csv_field(&r->record, column);
    if (input->names_given)
        *to = mgb_vocabulary_find(&input->names, field, strlen(field));
    else
        MGB_TRY(mgb_vocabulary_add(to, &input->names, field, strlen(field)));
    if (*to < 0)
        return field_fail(r, column, "is not one of the classes given");
    int64_t classes = mgb_graph_input_classes(r->graph, input->index);
    if (classes == 0 || *to < classes)
        return MGB_OK;
    char what[120];
    mgb_format(what, sizeof what,
               "is class %d in order of appearance, but the model takes 0 to %lld", *to,
               (long long)(classes - 1));
    return field_fail(r, column, what);
}

static enum mgb_status value_store(struct reading *r, struct column_input *input, int column,
                                   void *to)
{
    double value = 0;
    const char *field = mgb_csv_field(&r->record, column);
    bool number = number_read(&value, field);
    if (!*field)
        return field_fail(r, column,
                          "every field needs a value, so fill it in or leave the row out");
    if (input->kind == UNDECIDED)
        input->kind =
            input->type == MGB_I32 && input->columns.count == 1 && (!number || input->names_given)
                ? NAMES
                : NUMBERS;
    if (input->kind == NAMES)
        return name_store(r, input, column, to);
    if (!number)
        return field_fail(r, column, "is no number");
    if (input->type == MGB_F32) {
        *(float *)to = (float)value;
        return fabs(value) <= (double)FLT_MAX ? MGB_OK
                                              : field_fail(r, column, "is too large for f32");
    }
    if (!(value >= INT32_MIN && value <= INT32_MAX) || value != (double)(int32_t)value)
        return field_fail(r, column, "is no whole number of 32 bits");
    *(int32_t *)to = (int32_t)value;
    if (mgb_label_check("", r->graph, input->index, r->rows, *(int32_t *)to) == MGB_OK)
        return MGB_OK;
    char where[256]; /* made for a bad one only */
    mgb_format(where, sizeof where, "'%s', line %lld", r->csv->path, (long long)r->record.line);
    return mgb_label_check(where, r->graph, input->index, r->rows, *(int32_t *)to);
}

static bool rows_grow(struct reading *r, int64_t room)
{
    for (int i = 0; i < r->csv->count; i++) {
        const struct column_input *input = &r->inputs[i];
        struct mgb_stored_input *to = &r->stored[input->index];
        void *grown = mgb_realloc(to->owned, (size_t)(room * to->count) * sizeof(int32_t));
        if (!grown)
            return false;
        to->values = to->owned = grown;
    }
    r->room = room;
    return true;
}

static enum mgb_status row_store(struct reading *r)
{
    if (r->rows == r->room && !rows_grow(r, r->room ? 2 * r->room : 256))
        return mgb_fail(MGB_NO_MEMORY, "'%s': no memory for %lld rows", r->csv->path,
                        (long long)r->rows + 1);
    for (int i = 0; i < r->csv->count; i++) {
        struct column_input *input = &r->inputs[i];
        const struct mgb_stored_input *to = &r->stored[input->index];
        char *row = (char *)to->owned + r->rows * to->count * (int64_t)sizeof(int32_t);
        for (int k = 0; k < input->columns.count; k++)
            MGB_TRY(value_store(r, input, input->columns.at[k], row + (size_t)k * sizeof(int32_t)));
    }
    r->rows++;
    return MGB_OK;
}

static enum mgb_status input_begin(struct reading *r, struct column_input *input,
                                   const struct mgb_csv_input *asked)
{
    const char *same;
    MGB_TRY(mgb_input_find(&input->index, r->graph, asked->input));
    int tensor = mgb_graph_input_at(r->graph, input->index, &same);
    struct mgb_stored_input *to = &r->stored[input->index];
    if (to->count)
        return mgb_fail(MGB_INVALID, "input '%s' is given columns twice", asked->input);
    input->type = to->held = mgb_tensor_type(r->graph, tensor);
    to->count = to->stride = mgb_shape_count(mgb_tensor_shape(r->graph, tensor));
    MGB_TRY(mgb_csv_columns_find(&input->columns, &r->header, asked, r->csv->path));
    if (input->type == MGB_U8)
        return mgb_fail(MGB_UNSUPPORTED, "input '%s' takes bytes, which CSV has none of",
                        asked->input);
    if (input->columns.count != to->count)
        return mgb_fail(
            MGB_INVALID,
            "input '%s' of model '%s' takes %lld values, but %d columns of '%s' are given",
            asked->input, mgb_graph_name(r->graph), (long long)to->count, input->columns.count,
            r->csv->path);
    if (input->type != MGB_I32 || to->count != 1)
        return MGB_OK;
    for (int i = 0; i < r->csv->class_count; i++) {
        int32_t number;
        const char *name = r->csv->classes[i];
        MGB_TRY(mgb_vocabulary_add(&number, &input->names, name, strlen(name)));
        if (number != i)
            return mgb_fail(MGB_INVALID, "class '%s' is given twice", name);
        input->names_given = true;
    }
    return MGB_OK;
}

static enum mgb_status inputs_begin(struct reading *r)
{
    r->inputs = mgb_alloc(((size_t)r->csv->count + 1) * sizeof *r->inputs);
    if (!r->inputs)
        return mgb_fail(MGB_NO_MEMORY, "no memory to read '%s'", r->csv->path);
    for (int i = 0; i < r->csv->count; i++)
        MGB_TRY(input_begin(r, &r->inputs[i], &r->csv->inputs[i]));
    if (!rows_grow(r, 256))
        return mgb_fail(MGB_NO_MEMORY, "no memory to read '%s'", r->csv->path);
    return mgb_stored_check(r->stored, r->graph, "columns");
}

/* Empty lines may end the file, and be nowhere else. */
static enum mgb_status records_read(struct reading *r)
{
    bool some;
    int64_t blank = 0;
    MGB_TRY(mgb_csv_next(&some, &r->record));
    if (!some)
        return mgb_fail(MGB_CORRUPT, "'%s' is empty", r->csv->path);
    MGB_TRY(mgb_csv_header_read(&r->header, &r->record, !r->csv->headless));
    MGB_TRY(inputs_begin(r));
    if (!r->csv->headless)
        MGB_TRY(mgb_csv_next(&some, &r->record));
    for (; some;) {
        int have = r->record.fields.count;
        blank = r->record.blank && !blank ? r->record.line : blank;
        if (blank && !r->record.blank)
            return mgb_fail(MGB_CORRUPT, "'%s', line %lld: empty; every line is a row",
                            r->csv->path, (long long)blank);
        if (!blank && have != r->header.width)
            return mgb_fail(MGB_CORRUPT, "'%s', line %lld: %d fields, but the first line has %d",
                            r->csv->path, (long long)r->record.line, have, r->header.width);
        if (!blank)
            MGB_TRY(row_store(r));
        MGB_TRY(mgb_csv_next(&some, &r->record));
    }
    return r->rows ? MGB_OK : mgb_fail(MGB_CORRUPT, "'%s' has no row", r->csv->path);
}

static void describe(struct mgb_source *out, const struct reading *r)
{
    struct mgb_text text = {0};
    mgb_text_add(&text, "%lld rows of %.60s", (long long)r->rows, mgb_file_name(r->csv->path));
    for (int i = 0; i < r->csv->count; i++)
        for (int k = 0; r->inputs[i].kind == NAMES && k < r->inputs[i].names.count && k < 10; k++) {
            char shown[MGB_JSON_SHOWN];
            mgb_text_add(&text, "%s%d %s", k ? ", " : "; classes ", k,
                         mgb_json_show(shown, mgb_vocabulary_text(&r->inputs[i].names, k)));
        }
    mgb_format(out->description, sizeof out->description, "%s",
               text.chars && !text.failed ? text.chars : "rows of a CSV file");
    mgb_text_done(&text);
}

static void reading_end(struct reading *r)
{
    for (int i = 0; r->inputs && i < r->csv->count; i++) {
        mgb_vocabulary_done(&r->inputs[i].names);
        mgb_release(r->inputs[i].columns.at);
    }
    mgb_release(r->inputs);
    mgb_csv_header_done(&r->header);
    mgb_csv_close(&r->record);
}

enum mgb_status mgb_source_csv(struct mgb_source *out, const struct mgb_graph *graph,
                               const struct mgb_csv *csv, bool shuffle)
{
    struct reading r = {.graph = graph, .csv = csv};
    MGB_TRY(mgb_stored_make(&r.stored, graph));
    enum mgb_status status = mgb_csv_open(&r.record, csv->path, csv->separator);
    if (status == MGB_OK)
        status = records_read(&r);
    if (status == MGB_OK) {
        rows_grow(&r, r.rows); /* gives back what was too much; a failure leaves more */
        status = mgb_source_stored(out, graph, r.stored, r.rows, shuffle);
        mgb_release(r.stored);
        if (status == MGB_OK)
            describe(out, &r);
    } else {
        mgb_stored_free(r.stored, mgb_graph_input_count(graph));
    }
    reading_end(&r);
    return status;
}
