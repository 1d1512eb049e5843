/* The scalars that a step leaves on /cpu:0, part by part in tower order. */
#include "engine/exec/program.h"

static const void *part_address(const struct mgb_program *program, const struct mgb_operand *part,
                                int tower)
{
    struct mgb_place place = mgb_plan_place(program->plan, part->buffer, tower);
    place.offset += part->offset;
    if (tower >= 0)
        place.offset += part->row_bytes * program->plan->towers[tower].first_row;
    return mgb_program_address(program, place);
}

/* Entries [begin, end) are one result, an entry a class. */
static void towers_add(struct mgb_program *program, int begin, int end)
{
    const struct mgb_plan *plan = program->plan;
    for (int tower = 0; tower < plan->tower_count; tower++) {
        for (int i = begin; i < end; i++) {
            const struct mgb_result *result = &plan->results[i];
            if (plan->buffers[result->part.buffer].class != plan->towers[tower].class)
                continue;
            program->readings[program->reading_count++] = (struct mgb_reading){
                result->metric, result->index, part_address(program, &result->part, tower)};
        }
    }
}

/* Called once more at every bind, when addresses are known. */
enum mgb_status mgb_program_add_readings(struct mgb_program *program)
{
    const struct mgb_plan *plan = program->plan;
    if (!program->readings) {
        size_t most = (size_t)plan->result_count * (size_t)(plan->tower_count + 1) + 1;
        program->readings = mgb_pool_alloc(&program->pool, most * sizeof *program->readings);
        if (!program->readings)
            return mgb_fail(MGB_NO_MEMORY, "no memory to prepare a step plan");
    }
    program->reading_count = 0;
    for (int i = 0; i < plan->result_count;) {
        const struct mgb_result *result = &plan->results[i];
        int end = i + 1;
        if (result->part.tower != MGB_EACH_TOWER) {
            program->readings[program->reading_count++] =
                (struct mgb_reading){result->metric, result->index,
                                     part_address(program, &result->part, result->part.tower)};
        } else {
            while (end < plan->result_count && plan->results[end].part.tower == MGB_EACH_TOWER &&
                   plan->results[end].metric == result->metric &&
                   plan->results[end].index == result->index)
                end++;
            towers_add(program, i, end);
        }
        i = end;
    }
    return MGB_OK;
}
