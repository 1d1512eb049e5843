/* mgbench run: one run without a script. */
#include "app/cli/commands.h"
#include "app/cli/job.h"

static int run_run(struct mgb_invocation *in)
{
    return mgb_cli_job_measure(in, "run", true);
}

static const struct mgb_flag run_flags[] = {
    {"--steps", "N", "timed steps (default: 100)", false},
    {"--epochs", "N", "instead of steps, for data that has an end", false},
    {"--warmup", "N",
     "steps before that train and are logged, but are not timed (default: 10); auto", false},
    {"--target-noise", "SHARE", "go on until the median is this precise: 1% or 0.01", false},
    {"--max-time", "TIME", "no longer than 60s, 5m or 1h (default with --target-noise: 60s)",
     false},
    {"--trace", "STEPS", "timed steps to trace, from 0, such as 5-8; see mgbench trace", false},
    {"--seed", "N", "from 0: of initial values, data order and dropout (default: 1)", false},
    {"--data", "NAME", "random (default: one batch, again and again), digits or mnist", false},
    MGB_CLI_OPTIMIZER_FLAGS,
    MGB_CLI_MODEL_FLAGS,
    {NULL, NULL, NULL, false}};

const struct mgb_command mgb_command_run = {
    .name = "run",
    .usage = "MODEL [options] [placement options]",
    .summary = "one run without a script",
    .help = MGB_CLI_MODEL_HELP "\n"
                               "example: mgbench run mnist_cnn --gpus 2 --batch 64 --cpu-merge=no "
                               "--data mnist\n" MGB_CLI_REFUSAL_HELP,
    .flags = run_flags,
    .more_flags = mgb_cli_placement_flags,
    .least_words = 1,
    .most_words = 1,
    .run = run_run,
};
