/* Between config.c and call.c: loading and forgetting the environment. */
#ifndef FAKE_CONFIG_H
#define FAKE_CONFIG_H

/* Parses FAKE_CUDA_FAIL; the caller holds the lock. */
void fake_faults_load(const char *text);
/* Counters to zero, and the environment is read again. */
void fake_calls_reset(void);
/* The next fake_config_get reads the environment again. */
void fake_config_forget(void);

#endif
