/* The times of a played program, from the events at its tasks. */
#include "engine/exec/play.h"

enum mgb_status mgb_program_times(struct mgb_program *program, struct mgb_device_times *out,
                                  int64_t start_ns, int64_t input_ns, int64_t end_ns)
{
    const struct mgb_backend *backend = program->site->backend;
    for (int i = 0; i < program->span_count; i++) {
        struct mgb_span *span = &program->spans[i];
        MGB_TRY(backend->event_time(program->commands[span->first].begin, &span->start_ns, NULL));
        MGB_TRY(backend->event_time(program->commands[span->last].end, &span->end_ns, NULL));
    }
    struct mgb_step_clock clock = {start_ns, input_ns, end_ns};
    for (int i = 0; i < program->plan->use_count; i++)
        mgb_device_times_fill(&out[i], program->boundaries, program->plan->uses[i].device,
                              program->spans, program->span_count, &clock);
    return MGB_OK;
}

enum mgb_status mgb_program_trace(struct mgb_program *program, struct mgb_task_time *out,
                                  int64_t start_ns)
{
    const struct mgb_backend *backend = program->site->backend;
    for (int i = 0; i < program->count; i++) {
        const struct mgb_command *command = &program->commands[i];
        int64_t begin, end;
        MGB_TRY(backend->event_time(command->begin, &begin, NULL));
        MGB_TRY(backend->event_time(command->end, &end, NULL));
        out[i] = (struct mgb_task_time){.task = program->flat.tasks[i].task,
                                        .tower = command->tower,
                                        .device = command->device,
                                        .from = program->flat.tasks[i].from,
                                        .start_ns = begin - start_ns,
                                        .duration_ns = end > begin ? end - begin : 0};
    }
    return MGB_OK;
}
