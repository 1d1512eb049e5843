/* Both placements as rows: one table says which option goes to which column. */
#include "app/session/effective_columns.h"
#include "app/session/rows.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column_kind { COLUMN_TEXT, COLUMN_INT, COLUMN_REAL, COLUMN_BOOL };

struct column {
    const char *name;
    enum mgb_option_id option;
    enum column_kind kind;
    size_t offset;
};

#define COLUMN(id, kind, field)                                                                    \
    {                                                                                              \
#field, MGB_OPTION_##id, COLUMN_##kind, offsetof(struct mgb_record_placement, field)       \
    }

static const struct column columns[] = {
    COLUMN(STRATEGY, TEXT, strategy),
    COLUMN(LIKE, TEXT, like),
    COLUMN(MERGE_AT, TEXT, merge_at),
    COLUMN(CPU_RELOCATION, BOOL, cpu_relocation),
    COLUMN(CPU_MERGE, BOOL, cpu_merge),
    COLUMN(WEIGHTS_AT, TEXT, weights_at),
    COLUMN(JOIN_AT, TEXT, join_at),
    COLUMN(LOSS_AT, TEXT, loss_at),
    COLUMN(SUM_AT, TEXT, sum_at),
    COLUMN(UPDATE_AT, TEXT, update_at),
    COLUMN(RELOCATION, TEXT, relocation),
    COLUMN(ALLREDUCE, TEXT, allreduce),
    COLUMN(BUCKET_MIB, REAL, bucket_mib),
    COLUMN(OVERLAP, BOOL, overlap),
    COLUMN(STAGED, BOOL, staged),
    COLUMN(STALE, BOOL, stale),
    COLUMN(WIRE_TYPE, TEXT, wire_type),
    COLUMN(PEER_ACCESS, TEXT, peer_access),
    COLUMN(PINNED, TEXT, pinned),
    COLUMN(GRAPH, TEXT, graph),
    COLUMN(BN, TEXT, bn),
    COLUMN(PRECISION, TEXT, precision),
    COLUMN(RECOMPUTE, TEXT, recompute),
    COLUMN(LOGICAL, BOOL, logical),
    COLUMN(THREADS, INT, threads),
    COLUMN(HOSTS, INT, hosts),
};

static void column_set(struct mgb_record_placement *out, const struct column *column,
                       const char *text)
{
    void *field = (char *)out + column->offset;
    if (!text[0])
        return;
    switch (column->kind) {
    case COLUMN_TEXT:
        *(const char **)field = text;
        break;
    case COLUMN_INT:
        *(struct mgb_maybe_int *)field = MGB_KNOWN_INT(strtoll(text, NULL, 10));
        break;
    case COLUMN_REAL:
        *(struct mgb_maybe_real *)field = MGB_KNOWN_REAL(strtod(text, NULL));
        break;
    case COLUMN_BOOL:
        *(struct mgb_maybe_int *)field = MGB_KNOWN_INT(strcmp(text, "true") == 0);
        break;
    }
}

/* "[\"/gpu:2\",\"/gpu:0\"]" */
static void list_add(char *list, size_t size, struct mgb_device_name name)
{
    char text[MGB_DEVICE_NAME_MAX];
    size_t used = strlen(list);
    if (used + sizeof text + 4 < size) /* a list of thousands is cut: the count says how many */
        snprintf(list + used, size - used, "%s\"%s\"", used > 1 ? "," : "",
                 mgb_device_format(text, name));
}

void mgb_session_placement_asked(struct mgb_record_placement *out,
                                 struct session_placement_texts *texts,
                                 const struct mgb_placement *asked)
{
    *out = (struct mgb_record_placement){0};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        char *text = texts->text[columns[i].option];
        mgb_placement_get_text(text, sizeof texts->text[0], asked, columns[i].option);
        column_set(out, &columns[i], text);
    }
    if (asked->given >> MGB_OPTION_GPUS & 1) {
        out->gpus = MGB_KNOWN_INT(asked->listed ? asked->listed : asked->gpus);
        snprintf(texts->list, sizeof texts->list, "[");
        for (int i = 0; i < asked->listed; i++)
            list_add(texts->list, sizeof texts->list,
                     (struct mgb_device_name){MGB_DEVICE_GPU, asked->ids[i], 0});
        strcat(texts->list, "]");
        out->gpu_list = asked->listed ? texts->list : NULL;
    }
    if (asked->given >> MGB_OPTION_BATCH & 1) {
        out->batch_mode = "weak";
        out->batch_per_gpu = MGB_KNOWN_INT(asked->batch);
    }
    if (asked->given >> MGB_OPTION_GLOBAL_BATCH & 1) {
        out->batch_mode = "strong";
        out->global_batch = MGB_KNOWN_INT(asked->global_batch);
    }
    if (asked->given >> MGB_OPTION_GPU_MEMORY & 1)
        out->gpu_memory_bytes = MGB_KNOWN_INT(asked->gpu_memory);
}

void mgb_session_placement_effective(struct mgb_record_placement *out,
                                     struct session_placement_texts *texts,
                                     const struct mgb_effective *effective,
                                     const struct mgb_topology *topology)
{
    *out = (struct mgb_record_placement){0};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        char *text = texts->text[columns[i].option];
        mgb_effective_get_text(text, sizeof texts->text[0], effective, topology, columns[i].option);
        column_set(out, &columns[i], text);
    }
    int gpus = 0;
    snprintf(texts->list, sizeof texts->list, "[");
    for (int i = 0; i < effective->tower_count; i++) {
        struct mgb_device_name name = topology->devices[effective->tower_device[i]].name;
        gpus += name.kind == MGB_DEVICE_GPU;
        list_add(texts->list, sizeof texts->list, name);
    }
    strcat(texts->list, "]");
    out->gpus = MGB_KNOWN_INT(gpus);
    out->gpu_list = texts->list;
    out->batch_mode = effective->batch_mode == MGB_BATCH_GLOBAL ? "strong" : "weak";
    out->batch_per_gpu = MGB_KNOWN_INT(effective->batch_per_gpu);
    out->global_batch = MGB_KNOWN_INT(effective->global_batch);
    if (effective->gpu_memory)
        out->gpu_memory_bytes = MGB_KNOWN_INT(effective->gpu_memory);
}

/* What follows from other columns, or changes no step. */
static bool tells_nothing(enum mgb_option_id id)
{
    return id == MGB_OPTION_LIKE || id == MGB_OPTION_MERGE_AT || id == MGB_OPTION_CPU_RELOCATION ||
           id == MGB_OPTION_CPU_MERGE || id == MGB_OPTION_LOGICAL;
}

static bool column_write(struct session_effective_column *out, const char *name, const char *value)
{
    int length = snprintf(out->value, sizeof out->value, "%s", value);
    out->name = name;
    return length >= 0 && (size_t)length < sizeof out->value;
}

int mgb_session_effective_columns(struct session_effective_column out[MGB_EFFECTIVE_COLUMNS],
                                  const struct mgb_effective *effective,
                                  const struct mgb_topology *topology)
{
    struct mgb_record_placement row;
    struct session_placement_texts texts;
    char batch[24], global[24];
    int count = 0;
    mgb_session_placement_effective(&row, &texts, effective, topology);
    snprintf(batch, sizeof batch, "%d", effective->batch_per_gpu);
    snprintf(global, sizeof global, "%d", effective->global_batch);
    bool fits = column_write(&out[count++], "gpu_list", texts.list) &&
                column_write(&out[count++], "batch_per_gpu", batch) &&
                column_write(&out[count++], "global_batch", global);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0] && fits; i++)
        if (!tells_nothing(columns[i].option))
            fits = column_write(&out[count++], columns[i].name, texts.text[columns[i].option]);
    return fits ? count : 0;
}
