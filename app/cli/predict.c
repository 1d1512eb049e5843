/* mgbench predict: the placements of a model on a simulated machine, the fastest first. The words are the script layer's:
 * scripts/lib/ranking.lua. */
#include "app/cli/commands.h"
#include "app/cli/job.h"

static int predict_run(struct mgb_invocation *in)
{
    if (!in->machine)
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "predict: on which machine? Name one with --machine (mgbench "
                                "machines lists them)");
    return mgb_cli_job_simulate(in, "predict");
}

static const struct mgb_flag predict_flags[] = {
    MGB_CLI_OPTIMIZER_FLAGS, MGB_CLI_MODEL_FLAGS, {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench predict alexnet --machine p100-pcie-4",
     "where weights should live and towers meet on four P100"},
    {"mgbench predict mlp --machine dgx1v --gpus 4 --strategy gradients --csv",
     "those of one strategy on four of its GPUs, for a spreadsheet"},
    {NULL, NULL}};

const struct mgb_command mgb_command_predict = {
    .name = "predict",
    .usage = "MODEL --machine NAME [options] [placement options]",
    .summary = "which placement is the fastest on a machine you do not have; no run",
    .help = MGB_CLI_MODEL_HELP
    "A row for each placement that differs in effect: strategy, where the weights live, where "
    "towers meet, gradients\n"
    "are summed and weights updated, all-reduce algorithm and overlap. An option that is given "
    "holds for all of them;\n"
    "without --gpus it is all GPUs of the machine. Nothing is run and nothing stored: times are "
    "simulated.\n"
    "The machine's figures are drawn 100 times within its uncertainty, or 15 % where its file "
    "gives none, the same\n"
    "draws for every placement. low_ms and high_ms are the middle 95 % of the draws. The first row "
    "is best when it\n"
    "wins against each other one in 90 % of them; those that do not lose so often are tie. "
    "gpu_mib: planned on the\n"
    "fullest GPU. What is out of memory is listed last, without a time.\n"
    "Exit code 1 when no placement fits in memory.\n" MGB_CLI_REFUSAL_HELP,
    .examples = examples,
    .flags = predict_flags,
    .more_flags = mgb_cli_placement_flags,
    .least_words = 1,
    .most_words = 1,
    .run = predict_run,
};
