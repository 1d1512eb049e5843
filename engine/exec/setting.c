/* Settings: plans and programs of recently used placements. */
#include "engine/exec/setting.h"

#include "engine/base/hash.h"

#define SETTINGS_KEPT 8

static enum mgb_status describe(void *context, int device, const struct mgb_node_use *use,
                                struct mgb_operator_facts *out)
{
    const struct mgb_site *site = context;
    return site->backend->describe(site->context, device, use, out);
}

void mgb_settings_init(struct mgb_settings *out, struct mgb_site *site,
                       const struct mgb_graph *graph)
{
    *out = (struct mgb_settings){.site = site,
                                 .topology = site->topology,
                                 .graph = graph,
                                 .facts = {.context = site, .describe = describe}};
}

void mgb_settings_init_virtual(struct mgb_settings *out, const struct mgb_virtual *play_virtual,
                               const struct mgb_topology *topology, const struct mgb_graph *graph)
{
    *out = (struct mgb_settings){.play_virtual = play_virtual,
                                 .topology = topology,
                                 .graph = graph,
                                 .facts = *play_virtual->facts};
}

static void setting_free(struct mgb_setting *setting)
{
    for (int i = 0; i < setting->programs.count; i++)
        mgb_program_free(setting->programs.at[i]);
    mgb_vector_done(&setting->programs);
    mgb_effective_done(&setting->effective);
    mgb_release(setting);
}

void mgb_settings_done(struct mgb_settings *settings)
{
    for (int i = 0; i < settings->list.count; i++)
        setting_free(settings->list.at[i]);
    mgb_vector_done(&settings->list);
}

static uint64_t trainable_digest(const struct mgb_graph *graph)
{
    uint64_t digest = 0;
    for (int i = 0; i < mgb_graph_variable_count(graph); i++) {
        struct mgb_variable_info info = mgb_graph_variable_at(graph, i);
        unsigned char changes = info.state ? !info.frozen : info.trainable;
        digest = mgb_hash(digest, &changes, 1);
    }
    return digest;
}

/* The same operands for the same tasks: rates and factors are no part of a plan's shape. */
static bool optimizer_alike(const struct mgb_optimizer *a, const struct mgb_optimizer *b)
{
    return a->kind == b->kind && mgb_optimizer_slots(a) == mgb_optimizer_slots(b) &&
           (a->clip_norm > 0.0f) == (b->clip_norm > 0.0f);
}

void mgb_setting_set_optimizer(struct mgb_setting *setting, const struct mgb_optimizer *optimizer)
{
    setting->optimizer = *optimizer;
    for (int i = 0; i < setting->programs.count; i++)
        setting->programs.at[i]->plan->optimizer = *optimizer;
}

void mgb_setting_set_graph(struct mgb_setting *setting, enum mgb_choice graph)
{
    setting->effective.graph = graph;
    for (int i = 0; i < setting->programs.count; i++)
        if (graph == MGB_CHOICE_NO || setting->programs.at[i]->replay != MGB_CHOICE_NO)
            setting->programs.at[i]->replay = graph;
}

bool mgb_setting_serves(const struct mgb_setting *setting, const struct mgb_effective *effective,
                        const struct mgb_optimizer *optimizer, const struct mgb_graph *graph)
{
    return setting->trainable == trainable_digest(graph) &&
           optimizer_alike(&setting->optimizer, optimizer) &&
           mgb_effective_equal(&setting->effective, effective);
}

/* Frees the least recently used setting when there are too many. */
static void settings_trim(struct mgb_settings *settings, const struct mgb_setting *a,
                          const struct mgb_setting *b)
{
    while (settings->list.count > SETTINGS_KEPT) {
        int oldest = -1;
        for (int i = 0; i < settings->list.count; i++) {
            const struct mgb_setting *setting = settings->list.at[i];
            if (setting != a && setting != b &&
                (oldest < 0 || setting->used < settings->list.at[oldest]->used))
                oldest = i;
        }
        setting_free(settings->list.at[oldest]);
        settings->list.at[oldest] = settings->list.at[--settings->list.count];
    }
}

static enum mgb_status setting_make(struct mgb_settings *settings, struct mgb_setting **out,
                                    struct mgb_effective *effective,
                                    const struct mgb_optimizer *optimizer)
{
    struct mgb_setting *setting = mgb_alloc(sizeof *setting);
    if (!setting) {
        mgb_effective_done(effective);
        return mgb_fail(MGB_NO_MEMORY, "no memory for a placement");
    }
    setting->effective = *effective;
    setting->optimizer = *optimizer;
    setting->trainable = trainable_digest(settings->graph);
    struct mgb_program *program;
    enum mgb_status status =
        mgb_setting_program(settings, setting, &program, MGB_PLAN_TRAIN, effective->global_batch);
    if (status == MGB_OK && !mgb_vector_push(&settings->list, setting))
        status = mgb_fail(MGB_NO_MEMORY, "no memory for a placement");
    if (status != MGB_OK) {
        setting_free(setting);
        return status;
    }
    *out = setting;
    return MGB_OK;
}

enum mgb_status mgb_settings_get(struct mgb_settings *settings, struct mgb_setting **out,
                                 struct mgb_effective *effective,
                                 const struct mgb_optimizer *optimizer,
                                 const struct mgb_setting *current)
{
    struct mgb_setting *found = NULL;
    for (int i = 0; i < settings->list.count && !found; i++)
        if (mgb_setting_serves(settings->list.at[i], effective, optimizer, settings->graph))
            found = settings->list.at[i];
    if (found) {
        mgb_setting_set_graph(found, effective->graph);
        mgb_effective_done(effective);
        mgb_setting_set_optimizer(found, optimizer);
    } else {
        MGB_TRY(setting_make(settings, &found, effective, optimizer));
    }
    found->used = ++settings->clock;
    settings_trim(settings, current, found);
    *out = found;
    return MGB_OK;
}

struct mgb_program *mgb_setting_find(const struct mgb_setting *setting, enum mgb_plan_kind kind,
                                     int rows)
{
    for (int i = 0; i < setting->programs.count; i++) {
        struct mgb_program *program = setting->programs.at[i];
        if (program->plan->kind == kind && program->plan->global_rows == rows)
            return program;
    }
    return NULL;
}

static bool replay_possible(const struct mgb_site *site)
{
    return site->backend->can(site->context, MGB_CAN_REPLAY, 0, 0);
}

enum mgb_status mgb_setting_program(struct mgb_settings *settings, struct mgb_setting *setting,
                                    struct mgb_program **out, enum mgb_plan_kind kind, int rows)
{
    *out = mgb_setting_find(setting, kind, rows);
    if (*out)
        return MGB_OK;
    struct mgb_plan_request request = {.kind = kind,
                                       .graph = settings->graph,
                                       .topology = settings->topology,
                                       .placement = &setting->effective,
                                       .facts = &settings->facts,
                                       .optimizer = setting->optimizer,
                                       .rows = rows};
    struct mgb_plan *plan;
    if (!mgb_vector_reserve(&setting->programs, 1))
        return mgb_fail(MGB_NO_MEMORY, "no memory for a step plan");
    MGB_TRY(mgb_plan_make(&plan, &request));
    enum mgb_status status = mgb_plan_admit(plan, NULL, setting->effective.gpu_memory);
    if (status != MGB_OK) {
        mgb_plan_free(plan);
        return status;
    }
    MGB_TRY(settings->site ? mgb_program_make(out, settings->site, plan)
                           : mgb_program_make_virtual(out, settings->play_virtual, plan));
    if (kind == MGB_PLAN_TRAIN && settings->site && replay_possible(settings->site))
        (*out)->replay = setting->effective.graph;
    setting->programs.at[setting->programs.count++] = *out;
    return MGB_OK;
}

void mgb_setting_trim(struct mgb_setting *setting, enum mgb_plan_kind kind, int rows, int rest)
{
    int kept = 1;
    for (int i = 1; i < setting->programs.count; i++) {
        struct mgb_program *program = setting->programs.at[i];
        int have = program->plan->global_rows;
        if (program->plan->kind == kind && have != rows && have != rest)
            mgb_program_free(program);
        else
            setting->programs.at[kept++] = program;
    }
    setting->programs.count = kept;
}

const struct mgb_plan *mgb_setting_plan(const struct mgb_setting *setting)
{
    return setting->programs.at[0]->plan;
}

void mgb_setting_unbind(struct mgb_setting *setting)
{
    for (int i = 0; i < setting->programs.count; i++)
        mgb_program_unbind(setting->programs.at[i]);
}

int64_t mgb_setting_step_bytes(const struct mgb_setting *setting, int device)
{
    int64_t most = 0;
    for (int i = 0; i < setting->programs.count; i++) {
        const struct mgb_plan *plan = setting->programs.at[i]->plan;
        for (int k = 0; k < plan->use_count; k++)
            if (plan->uses[k].device == device && plan->uses[k].step_bytes > most)
                most = plan->uses[k].step_bytes;
    }
    return most;
}
