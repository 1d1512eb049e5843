/* Versions of the schema; see schema.h. */
#include "db/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/mgb_sql_migrations_002.h"
#include "db/mgb_sql_migrations_003.h"
#include "db/mgb_sql_schema.h"
#include "db/mgb_sql_views.h"

/* Append-only. A change to schema.sql raises the version and appends the text of db/migrations/NNN.sql here; from then
 * on that text is never edited. */
static const char *const migrations[] = {mgb_sql_migrations_002, mgb_sql_migrations_003};

const struct mgb_schema *mgb_schema_get(void)
{
    static const struct mgb_schema schema = {
        .version = 3, .create = mgb_sql_schema, .views = mgb_sql_views, .migrations = migrations};
    return &schema;
}

/* Each table of `create`, which has "CREATE TABLE name (" at the beginning of a line, must be a table of the file: a view
 * in its place could be anything. */
static enum mgb_status tables_check(struct mgb_sql *sql, const char *create)
{
    static const char words[] = "CREATE TABLE ";
    for (const char *at = strstr(create, words); at; at = strstr(at + 1, words)) {
        char query[160];
        int64_t there;
        const char *name = at + strlen(words);
        if (at > create && at[-1] != '\n')
            continue;
        snprintf(query, sizeof query,
                 "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '%.*s'",
                 (int)strcspn(name, " (\n"), name);
        MGB_TRY(mgb_sql_int(&there, sql, query));
        if (there != 1)
            return mgb_fail(MGB_CORRUPT,
                            "%s is no results file, it has no table %.*s: left as it is; name "
                            "another file with --db",
                            sql->path, (int)strcspn(name, " (\n"), name);
    }
    return MGB_OK;
}

static enum mgb_status schema_look(enum mgb_schema_state *out, int64_t *version,
                                   struct mgb_sql *sql, const struct mgb_schema *schema)
{
    int64_t application, objects;
    MGB_TRY(mgb_sql_int(&application, sql, "PRAGMA application_id"));
    MGB_TRY(mgb_sql_int(version, sql, "PRAGMA user_version"));
    MGB_TRY(mgb_sql_int(&objects, sql, "SELECT count(*) FROM sqlite_schema"));
    if (application == 0 && *version == 0 && objects == 0) {
        *out = MGB_SCHEMA_EMPTY;
        return MGB_OK;
    }
    if (application != MGB_APPLICATION_ID || *version < 1)
        return mgb_fail(MGB_CORRUPT,
                        "%s is an SQLite file of another program (application id %lld): left as it "
                        "is; name another file with --db",
                        sql->path, (long long)application);
    if (*version > schema->version)
        return mgb_fail(
            MGB_UNSUPPORTED,
            "%s has schema %lld, this mgbench knows schemas up to %d: left as it is; use "
            "a newer mgbench, or name another file with --db (sqlite3 can read it)",
            sql->path, (long long)*version, schema->version);
    *out = *version == schema->version ? MGB_SCHEMA_CURRENT : MGB_SCHEMA_OLDER;
    return *out == MGB_SCHEMA_CURRENT ? tables_check(sql, schema->create) : MGB_OK;
}

/* One snapshot for all three readings: between two of them another starter may make the file. */
enum mgb_status mgb_schema_look(enum mgb_schema_state *out, struct mgb_sql *sql,
                                const struct mgb_schema *schema)
{
    int64_t version;
    MGB_TRY(mgb_sql_run(sql, "BEGIN"));
    enum mgb_status status = schema_look(out, &version, sql, schema);
    if (status != MGB_OK) { /* what SQLite has not undone itself; the message stays */
        sqlite3_exec(sql->handle, "ROLLBACK", NULL, NULL, NULL);
        return status;
    }
    return mgb_sql_run(sql, "COMMIT");
}

static enum mgb_status views_drop(struct mgb_sql *sql)
{
    for (;;) {
        char drop[256];
        MGB_TRY(mgb_sql_text(drop, sizeof drop, sql,
                             "SELECT printf('DROP VIEW \"%w\"', name) FROM sqlite_schema "
                             "WHERE type = 'view' LIMIT 1"));
        if (!drop[0])
            return MGB_OK;
        MGB_TRY(mgb_sql_run(sql, drop));
    }
}

/* Views go first: renaming a table under a view that names it would fail. */
static enum mgb_status schema_write(struct mgb_sql *sql, const struct mgb_schema *schema)
{
    enum mgb_schema_state state;
    int64_t version;
    MGB_TRY(schema_look(&state, &version, sql, schema));
    if (state == MGB_SCHEMA_CURRENT)
        return MGB_OK;
    MGB_TRY(views_drop(sql));
    if (state == MGB_SCHEMA_EMPTY)
        MGB_TRY(mgb_sql_run(sql, schema->create));
    else
        for (int64_t i = version; i < schema->version; i++)
            MGB_TRY(mgb_sql_run(sql, schema->migrations[i - 1]));
    MGB_TRY(mgb_sql_run(sql, schema->views));
    char mark[96];
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             MGB_APPLICATION_ID, schema->version);
    return mgb_sql_run(sql, mark);
}

enum mgb_status mgb_schema_shadow_views(struct mgb_sql *sql, const struct mgb_schema *schema)
{
    static const char words[] = "CREATE VIEW ", instead[] = "CREATE TEMP VIEW ";
    size_t size = strlen(schema->views) + 1, count = 0;
    for (const char *at = schema->views; (at = strstr(at, words)); at++)
        count++;
    char *text = malloc(size + count * (sizeof instead - sizeof words)), *to = text;
    if (!text)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the views of %s", sql->path);
    const char *from = schema->views;
    for (const char *at; (at = strstr(from, words)); from = at + strlen(words))
        to += sprintf(to, "%.*s%s", (int)(at - from), from, instead);
    strcpy(to, from);
    enum mgb_status status = mgb_sql_run(sql, text);
    free(text);
    return status;
}

enum mgb_status mgb_schema_bring(struct mgb_sql *sql, const struct mgb_schema *schema)
{
    MGB_TRY(mgb_sql_begin(sql, __func__));
    return mgb_sql_end(sql, schema_write(sql, schema));
}
