/* Models whose losses, gradients and outputs PyTorch computed in double: tests/golden/models, made by
 * tests/golden/make_models_*.py. Weights and inputs are a formula that both sides share. */
#ifndef TESTS_APP_SCRIPT_GOLDEN_MODEL_H
#define TESTS_APP_SCRIPT_GOLDEN_MODEL_H

/* Of models/NAME.txt, made with the model `model` (Lua, as of script_model_use): loss of three steps of SGD and of every
 * variable the norm of its first gradient and some of its values, each to 1e-4: losses of themselves, norms of themselves
 * or, where they are much smaller than the largest, of a hundredth of that, values of the variable's largest one stored.
 * Prints the largest errors. */
void golden_model_train(const char *name, const char *model);
/* The outputs in evaluation, to 1e-4 of the largest. */
void golden_model_evaluate(const char *name, const char *model);

#endif
