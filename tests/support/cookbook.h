/* The results file of db/README.md's questions: a machine with four GPUs that does not exist, two models, and figures that
 * were made up so that each question has an answer. Nothing in it was measured; every run says so (simulated, data, tag). */
#ifndef TESTS_SUPPORT_COOKBOOK_H
#define TESTS_SUPPORT_COOKBOOK_H

/* Makes the file, the same one each time; the test fails if that fails. */
void cookbook_fill(const char *path);

#endif
