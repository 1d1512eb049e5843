/* Between config.c and call.c: loading and forgetting the environment. */
#ifndef FAKE_CONFIG_H
#define FAKE_CONFIG_H

/* What a test may wish of one call, by the function's name and how often it was called: that it fails, that what it
 * queues never ends, that what it queues leaves its device with a sticky error. */
enum fake_wish { FAKE_WISH_FAIL, FAKE_WISH_HANG, FAKE_WISH_STICKY };
/* Parses the variable `name`; the caller holds the lock. */
void fake_wishes_load(enum fake_wish wish, const char *name, const char *text);
/* Counters to zero, and the environment is read again. */
void fake_calls_reset(void);
/* The next fake_config_get reads the environment again. */
void fake_config_forget(void);

#endif
