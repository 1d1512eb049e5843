/* The prepared operator of every compute task: asks the backend with the request that the planner asked the facts with,
 * read back from the plan. */
#include "engine/exec/program.h"

/* GPUs have no team of threads; their facts are asked with 1. */
static int threads_of(const struct mgb_program *program, const struct mgb_command *command)
{
    if (program->site->topology->devices[command->device].class == MGB_CLASS_CUDA)
        return 1;
    return program->queues[command->queue].request.threads;
}

static struct mgb_node_use use_of(const struct mgb_program *program,
                                  const struct mgb_command *command)
{
    const struct mgb_plan *plan = program->plan;
    const struct mgb_task *task = command->task;
    struct mgb_node_use use = {
        .graph = plan->graph,
        .node = task->node,
        .rows = task->rows,
        .threads = threads_of(program, command),
        .precision = mgb_precision_on(&plan->topology->devices[command->device], plan->precision),
        .training = mgb_node_trains(plan->graph, task->node, plan->kind == MGB_PLAN_TRAIN)};
    for (int i = 0; i < task->input_count && i < MGB_MAX_INPUTS; i++)
        use.in_layout[i] = plan->operands[task->operand_begin + i].layout;
    for (int k = 0; k < MGB_MAX_OUTPUTS; k++)
        use.plain[k] = task->plain >> k & 1u;
    return use;
}

/* The answer fits what the plan was laid out for. */
static bool facts_fit(const struct mgb_program *program, const struct mgb_command *command,
                      const struct mgb_operator_facts *facts)
{
    const struct mgb_plan *plan = program->plan;
    const struct mgb_task *task = command->task;
    const struct mgb_operand *operands = plan->operands + task->operand_begin;
    const struct mgb_node *node = &plan->graph->nodes[task->node];
    for (int k = 0, wanted = 0; k < node->output_count && wanted < task->output_count; k++) {
        if (node->outputs[k] < 0)
            continue;
        const struct mgb_operand *operand = &operands[task->input_count + wanted++];
        if (operand->layout != facts->out_layout[k] || operand->bytes < facts->out_bytes[k])
            return false;
    }
    int spare = task->operand_count - task->input_count - task->output_count;
    int64_t workspace = spare > 0 ? operands[task->operand_count - 1].bytes : 0;
    return workspace >= facts->workspace_bytes;
}

static enum mgb_status kernel_add(struct mgb_program *program, struct mgb_command *command)
{
    const struct mgb_site *site = program->site;
    struct mgb_kernel_request request = {.device = command->device,
                                         .use = use_of(program, command)};
    MGB_TRY(site->backend->describe(site->context, command->device, &request.use, &request.facts));
    if (facts_fit(program, command, &request.facts))
        return site->backend->kernel(site->context, &command->kernel, &request);
    return mgb_fail(MGB_CORRUPT,
                    "operator '%s': the plan was made for other facts than backend %s states",
                    command->task->name, site->backend->name);
}

enum mgb_status mgb_program_add_kernels(struct mgb_program *program)
{
    for (int i = 0; i < program->count; i++)
        if (program->commands[i].task->kind == MGB_TASK_COMPUTE)
            MGB_TRY(kernel_add(program, &program->commands[i]));
    return MGB_OK;
}
