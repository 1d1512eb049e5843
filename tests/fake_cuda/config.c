/* The environment of the fake machine; see fake_cuda.h for the variables. */
#include "tests/fake_cuda/config.h"
#include "tests/fake_cuda/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fake_config config;
static atomic_bool loaded;

static const char *variable_get(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value ? value : otherwise;
}

static size_t size_parse(const char **text)
{
    char *end;
    size_t size = strtoull(*text, &end, 10);
    switch (*end) {
    case 'K':
        size <<= 10, end++;
        break;
    case 'M':
        size <<= 20, end++;
        break;
    case 'G':
        size <<= 30, end++;
        break;
    }
    *text = end;
    return size;
}

static void memory_load(void)
{
    const char *text = variable_get("FAKE_CUDA_MEMORY", "1G");
    size_t size = 0;
    for (int i = 0; i < FAKE_MAX_DEVICES; i++) {
        if (*text)
            size = size_parse(&text);
        if (*text == ',')
            text++;
        config.memory[i] = size;
    }
}

/* "0-1,2-3:500" or "all": the number of each pair (1 without one), 0 of those not named. */
static void pairs_load(unsigned pairs[FAKE_MAX_DEVICES][FAKE_MAX_DEVICES], const char *text)
{
    bool all = strcmp(text, "all") == 0;
    for (int a = 0; a < FAKE_MAX_DEVICES; a++)
        for (int b = 0; b < FAKE_MAX_DEVICES; b++)
            pairs[a][b] = all && a != b;
    if (all || strcmp(text, "none") == 0)
        return;
    while (*text) {
        char *end;
        long a = strtol(text, &end, 10);
        long b = *end == '-' ? strtol(end + 1, &end, 10) : -1;
        unsigned number = *end == ':' ? (unsigned)strtoul(end + 1, &end, 10) : 1;
        if (a >= 0 && b >= 0 && a < FAKE_MAX_DEVICES && b < FAKE_MAX_DEVICES && a != b)
            pairs[a][b] = pairs[b][a] = number;
        text = *end ? end + 1 : end;
    }
}

/* The last number holds for the devices after it. */
static void multiprocessors_load(void)
{
    const char *text = variable_get("FAKE_CUDA_SMS", "2");
    int count = 1;
    for (int i = 0; i < FAKE_MAX_DEVICES; i++) {
        char *end;
        if (*text) {
            count = (int)strtol(text, &end, 10);
            text = *end == ',' ? end + 1 : end;
        }
        config.multiprocessors[i] = count;
    }
}

/* A device by its number, or by as much of its UUID as no other has (CUDA programming guide, "CUDA_VISIBLE_DEVICES"); -1:
 * none. MIG instances there are none of. */
static long visible_read(const char *text, char **end, int present)
{
    char uuid[64];
    long found = -1;
    size_t length = strcspn(text, ",");
    if (strncmp(text, "GPU-", 4) != 0) {
        long id = strtol(text, end, 10);
        return *end == text || id < 0 || id >= present ? -1 : id;
    }
    *end = (char *)text + length;
    for (int i = 0; i < present; i++) {
        snprintf(uuid, sizeof uuid, "GPU-fafafafa-fafa-fafa-fafa-fafafafafa%02x", (unsigned)i);
        if (strncmp(uuid, text, length) != 0)
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

/* As the driver: the list ends at the first entry that names no device. */
static void visible_load(int present)
{
    const char *text = getenv("CUDA_VISIBLE_DEVICES");
    config.device_count = 0;
    if (!text) {
        for (int i = 0; i < present; i++)
            config.physical[config.device_count++] = i;
        return;
    }
    while (*text && config.device_count < FAKE_MAX_DEVICES) {
        char *end;
        long id = visible_read(text, &end, present);
        if (id < 0)
            return;
        config.physical[config.device_count++] = (int)id;
        text = *end ? end + 1 : end;
    }
}

static void slow_load(const char *text)
{
    const char *colon = strchr(text, ':');
    config.slow_device = colon ? atoi(text) : -1;
    config.slow_us = colon ? (unsigned)atoi(colon + 1) : 0;
}

static void config_load(void)
{
    int present = atoi(variable_get("FAKE_CUDA_DEVICES", "2"));
    present = present < 0 ? 0 : present > FAKE_MAX_DEVICES ? FAKE_MAX_DEVICES : present;
    memory_load();
    pairs_load(config.peer, variable_get("FAKE_CUDA_PEER", "all"));
    pairs_load(config.peer_bad, variable_get("FAKE_CUDA_PEER_BAD", "none"));
    pairs_load(config.peer_slow_us, variable_get("FAKE_CUDA_PEER_SLOW", "none"));
    multiprocessors_load();
    visible_load(present);
    config.init_error = atoi(variable_get("FAKE_CUDA_INIT", "0"));
    config.delay_us = (unsigned)atoi(variable_get("FAKE_CUDA_DELAY_US", "0"));
    slow_load(variable_get("FAKE_CUDA_SLOW", ""));
    config.seed = (unsigned)atoi(variable_get("FAKE_CUDA_SEED", "1"));
    config.random_order = strcmp(variable_get("FAKE_CUDA_ORDER", ""), "random") == 0;
    config.missing_rank_hangs = strcmp(variable_get("FAKE_CUDA_MISSING_RANK", ""), "hang") == 0;
    const char *wrong = variable_get("FAKE_CUDA_WRONG_SUM", "");
    config.wrong_sums = *wrong != '\0';
    config.wrong_sums_all = strcmp(wrong, "all") == 0;
    config.wrong_rank = atoi(wrong);
    config.blas_slow_us = (unsigned)atoi(variable_get("FAKE_CUBLAS_SLOW_US", "0"));
    config.dnn_slow_us = (unsigned)atoi(variable_get("FAKE_CUDNN_SLOW_US", "0"));
    config.dnn_bytes = (size_t)atoll(variable_get("FAKE_CUDNN_BYTES", "0"));
    fake_wishes_load(FAKE_WISH_FAIL, "FAKE_CUDA_FAIL", variable_get("FAKE_CUDA_FAIL", ""));
    fake_wishes_load(FAKE_WISH_HANG, "FAKE_CUDA_HANG", variable_get("FAKE_CUDA_HANG", ""));
    fake_wishes_load(FAKE_WISH_STICKY, "FAKE_CUDA_STICKY", variable_get("FAKE_CUDA_STICKY", ""));
}

const struct fake_config *fake_config_get(void)
{
    if (!atomic_load(&loaded)) {
        fake_lock();
        if (!atomic_load(&loaded))
            config_load();
        atomic_store(&loaded, true);
        fake_unlock();
    }
    return &config;
}

void fake_config_forget(void)
{
    atomic_store(&loaded, false);
}

/* xorshift32 (Marsaglia 2003): delays and orders need no better. */
unsigned fake_random(unsigned *state)
{
    unsigned x = *state ? *state : 2463534242u;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}
