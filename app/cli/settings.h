/* The flags that describe a run: model options, training and placement. Placement flags come from the engine's table of
 * options, so that they cannot drift from scripts and database. */
#ifndef MGB_APP_CLI_SETTINGS_H
#define MGB_APP_CLI_SETTINGS_H

#include "app/cli/cli.h"
#include <mgb/placement.h>

const struct mgb_flag *mgb_cli_placement_flags(void); /* for mgb_command.more_flags */

/* Entries of a command's own list; --optimizer and what follows it are its options. */
#define MGB_CLI_MODEL_FLAGS                                                                        \
    {                                                                                              \
        "--option", "NAME=VALUE", "an option of the model; may be repeated", false                 \
    }
#define MGB_CLI_OPTIMIZER_FLAGS                                                                    \
    {"--optimizer", "sgd|rmsprop|adagrad|adadelta|adam", "(default: sgd)", false},                 \
        {"--lr", "N", "learning rate", false}, {"--momentum", "N", "of sgd", false},               \
        {"--nesterov", "no", "Nesterov's momentum", true},                                         \
        {"--rho", "N", "of rmsprop and adadelta", false}, {"--beta1", "N", "of adam", false},      \
        {"--beta2", "N", "of adam", false}, {"--epsilon", "N", "not of sgd", false},               \
        {"--decay", "N", "learning rate / (1 + decay * steps done)", false},                       \
    {                                                                                              \
        "--clip-norm", "N", "the global norm of all gradients is at most this", false              \
    }

#define MGB_CLI_DATA_FLAG                                                                          \
    {                                                                                              \
        "--data", "random|digits|mnist|text|jsonl|FILE",                                           \
            "random (default): one batch, again and again; or a file", false                       \
    }
#define MGB_CLI_DATA_HELP                                                                          \
    "\n"                                                                                           \
    "What --data names is data of mgb.data with its options behind a colon: mnist:test,\n"         \
    "random:seed=3, text:words (the novel that comes with mgbench), jsonl (a dozen pairs of\n"     \
    "sentences). A file is told by its end: novel.txt:words,vocabulary=10000, pairs.jsonl,\n"      \
    "x.npz (entries of the inputs' names) or x.npz:image=x_train,label=y_train, and\n"             \
    "iris.csv:x=1:4,label=species (columns by name or number; a+b+c for a list;\n"                 \
    "separator=';', header=no); .txt, .jsonl and .csv also with .gz. Another name:\n"              \
    "text:file=NAME,words. The model's sizes are its own: --option vocabulary=10000.\n"

#define MGB_CLI_MODEL_HELP                                                                         \
    "MODEL is the name of a model (mgbench models) or a file, which has a slash or ends in "       \
    ".lua.\n"
#define MGB_CLI_REFUSAL_HELP                                                                       \
    "\n"                                                                                           \
    "exit codes: 0 done; 1 the run or the model failed, or does not fit in memory; 2 what was "    \
    "asked\n"                                                                                      \
    "contradicts itself or cannot be (--gpus 2,2, --batch 0, no such model); 4 a device that is "  \
    "not\n"                                                                                        \
    "there or that this version cannot do (--gpus 17 on 16 devices); 130 interrupted\n"

/* The words for scripts/lib/cli.lua, in order: "GROUP KIND:name=value" without the blank.
 *     groups  r: of mgb.run, o: of the optimizer, m: of the model, p: placement, d: the data set, x: --against
 *     kinds   n: number, b: true or false, l: ids as {2,0,3}, s: text, w: number, true, false or else text, t: number or
 *             else text, f: a file */
struct mgb_cli_settings {
    char **words; /* ended by NULL */
    int count;
    struct mgb_placement placement; /* of the flags before --against */
};

/* Checks every value. MGB_INVALID says what is wrong with which flag. */
enum mgb_status mgb_cli_settings_make(struct mgb_cli_settings *out,
                                      const struct mgb_invocation *in);
void mgb_cli_settings_done(struct mgb_cli_settings *settings);

/* Ranges of training flags and which go together; MGB_INVALID otherwise. After mgb_cli_settings_make. */
enum mgb_status mgb_cli_training_check(const struct mgb_invocation *in);

/* MGB_INVALID when there is no model of that name, or no such file. */
enum mgb_status mgb_cli_model_check(const struct mgb_invocation *in, const char *model);

#endif
