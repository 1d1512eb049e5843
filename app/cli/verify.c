/* mgbench verify: do two placements train the same, step by step? */
#include "app/cli/commands.h"
#include "app/cli/job.h"

static int verify_run(struct mgb_invocation *in)
{
    if (!mgb_cli_find_flag(in, "--against"))
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "verify: --against is missing: the other placement comes after it");
    return mgb_cli_job_measure(in, "verify", false);
}

static const struct mgb_flag verify_flags[] = {
    {"--against", NULL, "placement options after it are the other side's", false},
    {"--steps", "N", "steps to compare (default: 20)", false},
    {"--tolerance", "N",
     "relative difference of losses that is allowed (default: none beyond rounding)", false},
    {"--seed", "N", "from 0: of initial values, data order and dropout (default: 1)", false},
    MGB_CLI_DATA_FLAG,
    MGB_CLI_OPTIMIZER_FLAGS,
    MGB_CLI_MODEL_FLAGS,
    {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench verify mlp --gpus 2 --against --cpu-merge=no",
     "does it matter where the towers meet"},
    {"mgbench verify digits_cnn --gpus 2 --steps 5 --strategy gradients --against --strategy "
     "allreduce",
     "do two strategies agree on the loss"},
    {NULL, NULL}};

const struct mgb_command mgb_command_verify = {
    .name = "verify",
    .usage = "MODEL [options] --against [placement options]",
    .summary = "do two placements train the same, step by step?",
    .help = MGB_CLI_MODEL_HELP
    "Options before --against hold for both sides, those after it change the second one; NAME=nil\n"
    "takes one back. Equal to the last bit is promised within one strategy and number of towers; "
    "across\n"
    "them losses agree to 1e-5, which counts as the same unless --tolerance says otherwise. Exit "
    "code 1\n"
    "when they differ.\n" MGB_CLI_DATA_HELP MGB_CLI_REFUSAL_HELP,
    .examples = examples,
    .flags = verify_flags,
    .more_flags = mgb_cli_placement_flags,
    .least_words = 1,
    .most_words = 1,
    .run = verify_run,
};
