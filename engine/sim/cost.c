/* What a task takes on a compute queue: roofline with curves of efficiency, or what was measured. Knows no queues and no
 * sharing. Formulas: shared/reference/simulation.md 2.1 and 2.5. */
#include "engine/sim/sim.h"

#include "engine/base/text.h"
#include "engine/plan/build.h"
#include <string.h>

int mgb_sim_threads(const struct mgb_plan *plan, int device)
{
    if (device != MGB_HOST_DEVICE)
        return plan->threads;
    for (int i = 0; i < plan->tower_count; i++)
        if (plan->towers[i].device == MGB_HOST_DEVICE)
            return plan->threads;
    return plan->cpu_threads;
}

static int instances_of(const struct mgb_plan *plan, const struct mgb_operand *operand)
{
    int class = plan->buffers[operand->buffer].class;
    return operand->tower == MGB_EACH_TOWER && class != MGB_ROOT ? plan->classes[class].tower_count
                                                                 : 1;
}

static int access_of(const struct mgb_task *task, int index, int slots)
{
    /* Of a compute task's operands the last may be a workspace, which is nobody's result. */
    if (task->kind == MGB_TASK_COMPUTE && index >= task->input_count + task->output_count)
        return 0;
    return mgb_plan_access(task, index, slots);
}

int64_t mgb_sim_task_bytes(const struct mgb_plan *plan, int task)
{
    const struct mgb_task *t = &plan->tasks[task];
    int slots = mgb_optimizer_slots(&plan->optimizer);
    int64_t bytes = 0;
    for (int k = 0; k < t->operand_count; k++) {
        const struct mgb_operand *operand = &plan->operands[t->operand_begin + k];
        int access = access_of(t, k, slots);
        int64_t all = operand->bytes * instances_of(plan, operand);
        bytes += (access & MGB_READS ? all : 0) + (access & MGB_WRITES ? all : 0);
    }
    return bytes;
}

/* The operators whose products precision is about. */
static bool is_product(enum mgb_op_kind kind)
{
    static const enum mgb_op_kind products[] = {
        MGB_OP_DENSE,         MGB_OP_DENSE_GRAD_X,  MGB_OP_DENSE_GRAD_W, MGB_OP_CONV2D,
        MGB_OP_CONV2D_GRAD_X, MGB_OP_CONV2D_GRAD_W, MGB_OP_LSTM,         MGB_OP_LSTM_GRAD,
        MGB_OP_GRU,           MGB_OP_GRU_GRAD,      MGB_OP_ATTENTION,    MGB_OP_ATTENTION_GRAD,
        MGB_OP_MATMUL};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (products[i] == kind)
            return true;
    return false;
}

static double peak_of(const struct mgb_sim *sim, const struct mgb_plan *plan,
                      const struct mgb_task *task, int device)
{
    const struct mgb_machine_device *d = &sim->machine->devices[device];
    bool gpu = device != MGB_HOST_DEVICE && !sim->machine->cpu_devices;
    double peak = 0;
    if (gpu && is_product(plan->graph->nodes[task->node].kind))
        peak = d->tflops[plan->precision];
    return peak > 0 ? peak : d->tflops[MGB_PRECISION_F32];
}

static const char *factor_name(const struct mgb_plan *plan, const struct mgb_task *task)
{
    return task->kind == MGB_TASK_COMPUTE ? mgb_op_name(plan->graph->nodes[task->node].kind)
                                          : mgb_task_kind_name(task->kind);
}

/* 0: none is given. */
static double factor_find(const struct mgb_machine_device *d, const char *name)
{
    for (int i = 0; i < d->factor_count; i++)
        if (strcmp(d->factors[i].kind, name) == 0)
            return d->factors[i].speed;
    return 0;
}

/* Methods like Winograd's are of one size of kernel, of stride 1 and of plain f32: "conv2d_3x3". */
static double convolution_factor(const struct mgb_machine_device *d, const struct mgb_node *node,
                                 const char *name)
{
    const struct mgb_window *w = &node->a.conv2d.window;
    char sized[64];
    if (w->stride[0] != 1 || w->stride[1] != 1 || w->dilation[0] > 1 || w->dilation[1] > 1)
        return 0;
    mgb_format(sized, sizeof sized, "%s_%dx%d", name, w->size[0], w->size[1]);
    return factor_find(d, sized);
}

static double factor_of(const struct mgb_machine_device *d, const struct mgb_plan *plan,
                        const struct mgb_task *task, bool plain)
{
    const char *name = factor_name(plan, task);
    double factor = 0;
    if (task->kind == MGB_TASK_COMPUTE && plain) {
        const struct mgb_node *node = &plan->graph->nodes[task->node];
        if (node->kind == MGB_OP_CONV2D || node->kind == MGB_OP_CONV2D_GRAD_X ||
            node->kind == MGB_OP_CONV2D_GRAD_W)
            factor = convolution_factor(d, node, name);
    }
    factor = factor > 0 ? factor : factor_find(d, name);
    return factor > 0 ? factor : 1;
}

/* Bytes a nanosecond that a task of so many bytes gets. */
static double bandwidth_of(const struct mgb_sim *sim, const struct mgb_task *task, int device,
                           int64_t bytes)
{
    const struct mgb_machine_device *d = &sim->machine->devices[device];
    const struct mgb_machine_host *host = &sim->machine->host;
    if (device == MGB_HOST_DEVICE && task->kind != MGB_TASK_COMPUTE) {
        double gbps = host->reduce_gbps > 0 ? host->reduce_gbps : host->memory_gbps;
        if (gbps > 0)
            return gbps;
    }
    return d->memory_gbps * mgb_curve_at(&d->memory, (double)bytes);
}

static double roofline_ns(const struct mgb_sim *sim, const struct mgb_plan *plan, int task,
                          int device)
{
    const struct mgb_machine_device *d = &sim->machine->devices[device];
    const struct mgb_task *t = &plan->tasks[task];
    int64_t bytes = mgb_sim_task_bytes(plan, task);
    double bandwidth = bandwidth_of(sim, t, device, bytes), ns = 0;
    double peak = d->tflops[MGB_PRECISION_F32];
    if (bytes > 0 && bandwidth > 0)
        ns = (double)bytes / bandwidth;
    if (t->kind == MGB_TASK_COMPUTE && t->flops > 0) {
        /* The curve is of f32: what is ten times faster needs ten times the work to be filled. */
        peak = peak_of(sim, plan, t, device);
        double size = t->flops * d->tflops[MGB_PRECISION_F32] / peak;
        double flops = peak * 1e3 * mgb_curve_at(&d->compute, size);
        if (flops > 0 && t->flops / flops > ns)
            ns = t->flops / flops;
    }
    return ns / factor_of(d, plan, t, peak <= d->tflops[MGB_PRECISION_F32]);
}

/* The first of the costs, which are sorted, that is not before (signature, threads, rows). */
static int cost_bound(const struct mgb_machine *machine, uint64_t signature, int threads,
                      int64_t rows)
{
    int low = 0, high = machine->cost_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const struct mgb_machine_cost *c = &machine->costs[middle];
        bool before = c->signature != signature ? c->signature < signature
                      : c->threads != threads   ? c->threads < threads
                                                : c->rows < rows;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Linear between the measured rows and beyond them; in proportion to the rows when there is one alone. */
static double cost_at(const struct mgb_machine_cost *costs, int count, int64_t rows)
{
    int above = 1;
    if (count == 1)
        return costs->ns * (double)rows / (double)(costs->rows > 0 ? costs->rows : 1);
    while (above < count - 1 && costs[above].rows < rows)
        above++;
    const struct mgb_machine_cost *a = &costs[above - 1], *b = &costs[above];
    double slope = (b->ns - a->ns) / (double)(b->rows - a->rows);
    double ns = a->ns + slope * (double)(rows - a->rows);
    return ns > 0 ? ns : 0;
}

/* What was measured of this operator on devices like this one. */
static bool cost_find(double *ns, const struct mgb_sim *sim, const struct mgb_plan *plan, int task,
                      int device)
{
    const struct mgb_machine *machine = sim->machine;
    const struct mgb_task *t = &plan->tasks[task];
    if (t->kind != MGB_TASK_COMPUTE || machine->cost_count == 0 ||
        (device == MGB_HOST_DEVICE && !machine->cpu_devices))
        return false;
    uint64_t signature = mgb_sim_signature(plan->graph, t->node);
    int threads = machine->cpu_devices ? mgb_sim_threads(plan, device) : 1;
    int begin = cost_bound(machine, signature, threads, INT64_MIN);
    int end = cost_bound(machine, signature, threads + 1, INT64_MIN);
    if (begin == end)
        return false;
    *ns = cost_at(&machine->costs[begin], end - begin, t->rows);
    return true;
}

double mgb_sim_task_ns(const struct mgb_sim *sim, const struct mgb_plan *plan, int task, int device)
{
    const struct mgb_machine_device *d = &sim->machine->devices[device];
    double ns, speed = d->speed > 0 ? d->speed : 1;
    if (mgb_sim_learned_find(&ns, sim, plan, task, device))
        return ns;
    if (cost_find(&ns, sim, plan, task, device))
        return ns / speed;
    return d->launch_us * 1e3 + roofline_ns(sim, plan, task, device) / speed;
}
