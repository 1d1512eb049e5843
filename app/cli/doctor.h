/* What mgbench doctor looks at besides the database: the machine as /sys and /proc show it, GPUs, the environment. What
 * cannot be read, in a container say, is told as such and is no fault. */
#ifndef MGB_APP_CLI_DOCTOR_H
#define MGB_APP_CLI_DOCTOR_H

#include "db/doctor.h"
#include <stddef.h>

/* `root` stands before /sys and /proc: "" but in tests. */
void mgb_doctor_machine(const struct mgb_symptom_sink *sink, const char *root);
void mgb_doctor_limits(const struct mgb_symptom_sink *sink,
                       const char *root); /* of containers; memory, swap */
void mgb_doctor_gpus(const struct mgb_symptom_sink *sink, const char *root);
void mgb_doctor_environment(const struct mgb_symptom_sink *sink, char *const *environment);

/* First line of ROOT/PATH without its end; false: it cannot be read, or is empty. */
bool mgb_doctor_line(char *out, size_t size, const char *root, const char *path);
/* The same as a whole number. */
bool mgb_doctor_number(long long *out, const char *root, const char *path);
int mgb_doctor_cpus(void); /* that this process may run on */

#endif
