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
    {"--warmup", "N|auto",
     "steps before that train and are logged, but are not timed (default: 10); auto finds them",
     false},
    {"--target-noise", "SHARE", "go on until the median is this precise: 1% or 0.01", false},
    {"--max-time", "TIME", "no longer than 60s, 5m or 1h (default with --target-noise: 60s)",
     false},
    {"--repeats", "N", "the run N times, one after the other: repetitions (default: 1)", false},
    {"--tag", "NAME", "a label of the runs: tag:NAME stands for all of them", false},
    {"--trace", "STEPS", "timed steps to trace, from 0, such as 5-8; see mgbench trace", false},
    {"--load", "FILE",
     "begin with a checkpoint of any number of GPUs: weights, and optimizer state when it is there",
     false},
    {"--weights-only", "no", "with --load: the optimizer starts anew, steps count from 0", true},
    {"--partial", "no",
     "with --load: tensors that only the file or only the model has are left out", true},
    {"--save", "FILE",
     "at the end: weights as safetensors, optimizer state in FILE's name with .optimizer", false},
    {"--seed", "N", "from 0: of initial values, data order and dropout (default: 1)", false},
    MGB_CLI_DATA_FLAG,
    MGB_CLI_OPTIMIZER_FLAGS,
    MGB_CLI_MODEL_FLAGS,
    {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench run mlp --backend host --steps 20",
     "20 timed steps, with what they can be trusted for"},
    {"mgbench run digits_cnn --backend host --gpus 2 --batch 8 --no-cpu-merge --data digits "
     "--epochs 1",
     "an epoch of real data on two devices, merged on the first"},
    {"mgbench run mlp --backend host --steps 20 --repeats 5 --tag before",
     "five repetitions, so that a comparison with tag:before can be decided"},
    {"mgbench run mlp --backend host --target-noise 10% --max-time 2s",
     "until the median is known within 10 %, two seconds at most"},
    {"mgbench run digits_cnn --backend host --data digits --optimizer adam --steps 20 --save "
     "digits.safetensors",
     "the weights, and Adam's state in digits.optimizer.safetensors"},
    {"mgbench run digits_cnn --backend host --data digits --optimizer adam --steps 20 --gpus 2 "
     "--batch 16 --load digits.safetensors",
     "goes on from there, on two devices"},
    {NULL, NULL}};

const struct mgb_command mgb_command_run = {
    .name = "run",
    .usage = "MODEL [options] [placement options]",
    .summary = "one run without a script",
    .help = MGB_CLI_MODEL_HELP
    "\n"
    "With --warmup auto or --target-noise, --steps is the least number of timed steps; --max-time "
    "ends any run.\n"
    "What ended it is printed and stored. An automatic warm-up has 11 steps and a second at least, "
    "a quarter of all\n"
    "steps at most, and ends when three windows of 20 steps agree within 2 %; if that is not until "
    "4 * (steps +\n"
    "floor) the run is not steady: no verdict rests on it. Warnings end with their name, which "
    "--quiet-warnings silences.\n" MGB_CLI_DATA_HELP MGB_CLI_REFUSAL_HELP,
    .examples = examples,
    .flags = run_flags,
    .more_flags = mgb_cli_placement_flags,
    .least_words = 1,
    .most_words = 1,
    .run = run_run,
};
