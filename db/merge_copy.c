/* Carrying rows of a table from one file to another, whatever its columns are; see merge_private.h. */
#include "db/merge_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STOP_ROWS 1024

enum mgb_status mgb_merge_ids_add(struct mgb_merge_ids *ids, int64_t from, int64_t to)
{
    if (ids->count == ids->capacity) {
        size_t capacity = ids->capacity ? ids->capacity * 2 : 16;
        int64_t *rows = realloc(ids->from, capacity * sizeof *rows);
        ids->from = rows ? rows : ids->from;
        int64_t *others = rows ? realloc(ids->to, capacity * sizeof *others) : NULL;
        if (!others)
            return mgb_fail(MGB_NO_MEMORY, "no memory for %zu row numbers", capacity);
        ids->to = others;
        ids->capacity = capacity;
    }
    ids->from[ids->count] = from;
    ids->to[ids->count++] = to;
    return MGB_OK;
}

bool mgb_merge_ids_find(int64_t *to, const struct mgb_merge_ids *ids, int64_t from)
{
    for (size_t i = ids->count; i > 0; i--) {
        if (ids->from[i - 1] == from) {
            *to = ids->to[i - 1];
            return true;
        }
    }
    return false;
}

static enum mgb_status ids_read(struct mgb_merge_ids *out, struct mgb_statement *ask)
{
    for (;;) {
        bool row;
        MGB_TRY(mgb_statement_step(&row, ask));
        if (!row)
            return MGB_OK;
        enum mgb_status status = mgb_merge_ids_add(out, mgb_column_int(ask, 0), 0);
        if (status != MGB_OK) {
            mgb_statement_reset(ask);
            return status;
        }
    }
}

enum mgb_status mgb_merge_ids_ask(struct mgb_merge_ids *out, struct mgb_sql *sql, const char *text,
                                  int64_t value)
{
    struct mgb_statement ask;
    *out = (struct mgb_merge_ids){0};
    MGB_TRY(mgb_sql_prepare(&ask, sql, text));
    if (strchr(text, '?'))
        mgb_bind_int(&ask, value);
    enum mgb_status status = ids_read(out, &ask);
    if (status != MGB_OK)
        mgb_merge_ids_done(out);
    return status;
}

void mgb_merge_ids_done(struct mgb_merge_ids *ids)
{
    free(ids->from);
    free(ids->to);
    *ids = (struct mgb_merge_ids){0};
}

static int column_kind(const char *name)
{
    static const struct {
        const char *name;
        enum mgb_merge_kind kind;
    } known[] = {{"machine_id", MGB_MERGE_MACHINE},
                 {"model_id", MGB_MERGE_MODEL},
                 {"run_id", MGB_MERGE_RUN},
                 {"segment_id", MGB_MERGE_SEGMENT},
                 {"sweep_id", MGB_MERGE_SWEEP}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return (int)known[i].kind;
    return -1;
}

struct texts { /* of the two statements, while they grow */
    FILE *columns, *places, *updates;
    char *column_text, *place_text, *update_text;
    size_t sizes[3];
    int unique[4]; /* number of the column, from 1 */
};

static bool texts_open(struct texts *texts)
{
    *texts = (struct texts){0};
    texts->columns = open_memstream(&texts->column_text, &texts->sizes[0]);
    texts->places = open_memstream(&texts->place_text, &texts->sizes[1]);
    texts->updates = open_memstream(&texts->update_text, &texts->sizes[2]);
    return texts->columns && texts->places && texts->updates;
}

static bool texts_close(struct texts *texts)
{
    FILE *files[] = {texts->columns, texts->places, texts->updates};
    bool good = true;
    for (int i = 0; i < 3; i++)
        if (!files[i] || fclose(files[i]) != 0)
            good = false;
    return good;
}

static void texts_free(struct texts *texts)
{
    free(texts->column_text);
    free(texts->place_text);
    free(texts->update_text);
}

static enum mgb_status column_add(struct mgb_merge_copier *copier, struct texts *texts,
                                  const char *name)
{
    signed char *kinds = realloc(copier->kinds, (size_t)copier->columns + 1);
    if (!kinds)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the columns of %s", copier->table->name);
    copier->kinds = kinds;
    kinds[copier->columns++] = (signed char)column_kind(name);
    const char *comma = copier->columns > 1 ? ", " : "";
    fprintf(texts->columns, "%s\"%s\"", comma, name);
    fprintf(texts->places, "%s?%d", comma, copier->columns);
    fprintf(texts->updates, "%s\"%s\" = excluded.\"%s\"", comma, name, name);
    for (int i = 0; i < 4 && copier->table->unique[i]; i++)
        if (strcmp(copier->table->unique[i], name) == 0)
            texts->unique[i] = copier->columns;
    return MGB_OK;
}

static enum mgb_status columns_find(struct mgb_merge_copier *copier, struct mgb_sql *target,
                                    struct texts *texts)
{
    struct mgb_statement list;
    MGB_TRY(mgb_sql_prepare(&list, target, "SELECT name FROM pragma_table_info(?) ORDER BY cid"));
    mgb_bind_text(&list, copier->table->name);
    for (;;) {
        bool row;
        MGB_TRY(mgb_statement_step(&row, &list));
        if (!row)
            return MGB_OK;
        const char *name = mgb_column_text(&list, 0);
        if (copier->table->own_id && strcmp(name, copier->table->own_id) == 0)
            continue;
        enum mgb_status status = column_add(copier, texts, name);
        if (status != MGB_OK) {
            mgb_statement_reset(&list);
            return status;
        }
    }
}

static char *write_text(const struct mgb_merge_table *table, const struct texts *texts)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "INSERT INTO \"%s\" (%s) SELECT %s WHERE ", table->name, texts->column_text,
            texts->place_text);
    if (table->unique[0])
        fprintf(out, "NOT EXISTS (SELECT 1 FROM \"%s\" AS o WHERE ", table->name);
    for (int i = 0; i < 4 && table->unique[i]; i++)
        fprintf(out, "%so.\"%s\" IS ?%d", i ? " AND " : "", table->unique[i], texts->unique[i]);
    fputs(table->unique[0] ? ")" : "true", out);
    if (table->newer)
        fprintf(out, " ON CONFLICT DO UPDATE SET %s WHERE excluded.\"%s\" > \"%s\".\"%s\"",
                texts->update_text, table->newer, table->name, table->newer);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static enum mgb_status compile(sqlite3_stmt **out, struct mgb_sql *sql, const char *text)
{
    if (!text)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a statement");
    int code = sqlite3_prepare_v3(sql->handle, text, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return code == SQLITE_OK ? MGB_OK : mgb_sql_fail(sql, code, text);
}

static enum mgb_status statements_make(struct mgb_merge_copier *out, struct mgb_merge_work *work,
                                       const struct texts *texts)
{
    const struct mgb_merge_table *table = out->table;
    char *read = NULL;
    if (asprintf(&read, "SELECT %s FROM \"%s\" WHERE \"%s\" = ?%s%s", texts->column_text,
                 table->name, table->key, table->own_id ? " ORDER BY " : "",
                 table->own_id ? table->own_id : "") < 0)
        read = NULL;
    char *write = write_text(table, texts);
    enum mgb_status status = compile(&out->read, work->source, read);
    if (status == MGB_OK)
        status = compile(&out->write, work->target, write);
    free(read);
    free(write);
    return status;
}

enum mgb_status mgb_merge_copier_open(struct mgb_merge_copier *out, struct mgb_merge_work *work,
                                      const struct mgb_merge_table *table)
{
    struct texts texts;
    *out = (struct mgb_merge_copier){.table = table};
    enum mgb_status status = texts_open(&texts)
                                 ? columns_find(out, work->target, &texts)
                                 : mgb_fail(MGB_NO_MEMORY, "no memory to merge %s", table->name);
    if (!texts_close(&texts) && status == MGB_OK)
        status = mgb_fail(MGB_NO_MEMORY, "no memory to merge %s", table->name);
    if (status == MGB_OK)
        status = statements_make(out, work, &texts);
    texts_free(&texts);
    if (status != MGB_OK)
        mgb_merge_copier_close(out);
    return status;
}

void mgb_merge_copier_close(struct mgb_merge_copier *copier)
{
    sqlite3_finalize(copier->read);
    sqlite3_finalize(copier->write);
    free(copier->kinds);
    *copier = (struct mgb_merge_copier){0};
}

static enum mgb_status row_bind(struct mgb_merge_copier *copier, const struct mgb_merge_work *work)
{
    int code = SQLITE_OK;
    for (int i = 0; i < copier->columns && code == SQLITE_OK; i++) {
        int64_t id;
        int kind = copier->kinds[i];
        if (kind < 0 || sqlite3_column_type(copier->read, i) == SQLITE_NULL) {
            code = sqlite3_bind_value(copier->write, i + 1, sqlite3_column_value(copier->read, i));
            continue;
        }
        if (!mgb_merge_ids_find(&id, &work->ids[kind], sqlite3_column_int64(copier->read, i)))
            return mgb_fail(MGB_CORRUPT, "%s: a row of %s belongs to nothing", work->source->path,
                            copier->table->name);
        code = sqlite3_bind_int64(copier->write, i + 1, id);
    }
    return code == SQLITE_OK ? MGB_OK : mgb_sql_fail(work->target, code, copier->table->name);
}

static enum mgb_status row_carry(int64_t *count, struct mgb_merge_copier *copier,
                                 struct mgb_merge_work *work)
{
    MGB_TRY(row_bind(copier, work));
    int code = sqlite3_step(copier->write);
    enum mgb_status status =
        code == SQLITE_DONE ? MGB_OK : mgb_sql_fail(work->target, code, copier->table->name);
    if (status == MGB_OK)
        *count += sqlite3_changes(work->target->handle);
    sqlite3_reset(copier->write);
    return status;
}

enum mgb_status mgb_merge_copy(int64_t *count, struct mgb_merge_copier *copier,
                               struct mgb_merge_work *work, int64_t key)
{
    int64_t put = 0;
    enum mgb_status status = MGB_OK;
    int code = sqlite3_bind_int64(copier->read, 1, key);
    for (int64_t row = 1; status == MGB_OK && code == SQLITE_OK; row++) {
        code = sqlite3_step(copier->read);
        if (code != SQLITE_ROW)
            break;
        status = row_carry(&put, copier, work);
        code = SQLITE_OK;
        if (status == MGB_OK && row % STOP_ROWS == 0 && work->options->stop &&
            work->options->stop(work->options->context))
            status = mgb_fail(MGB_INTERRUPTED, "merging was stopped");
    }
    if (status == MGB_OK && code != SQLITE_DONE)
        status = mgb_sql_fail(work->source, code, copier->table->name);
    sqlite3_reset(copier->read);
    if (count)
        *count += put;
    return status;
}
