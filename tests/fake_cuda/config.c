/* The environment of the fake machine; see fake_cuda.h for the variables. */
#include "tests/fake_cuda/config.h"
#include "tests/fake_cuda/fake.h"

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

static void peers_load(void)
{
    const char *text = variable_get("FAKE_CUDA_PEER", "all");
    bool all = strcmp(text, "all") == 0;
    for (int a = 0; a < FAKE_MAX_DEVICES; a++)
        for (int b = 0; b < FAKE_MAX_DEVICES; b++)
            config.peer[a][b] = all && a != b;
    if (all || strcmp(text, "none") == 0)
        return;
    while (*text) {
        char *end;
        long a = strtol(text, &end, 10);
        long b = *end == '-' ? strtol(end + 1, &end, 10) : -1;
        if (a >= 0 && b >= 0 && a < FAKE_MAX_DEVICES && b < FAKE_MAX_DEVICES && a != b)
            config.peer[a][b] = config.peer[b][a] = true;
        text = *end ? end + 1 : end;
    }
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
        long id = strtol(text, &end, 10);
        if (end == text || id < 0 || id >= present)
            return;
        config.physical[config.device_count++] = (int)id;
        text = *end ? end + 1 : end;
    }
}

static void config_load(void)
{
    int present = atoi(variable_get("FAKE_CUDA_DEVICES", "2"));
    present = present < 0 ? 0 : present > FAKE_MAX_DEVICES ? FAKE_MAX_DEVICES : present;
    memory_load();
    peers_load();
    visible_load(present);
    config.init_error = atoi(variable_get("FAKE_CUDA_INIT", "0"));
    config.delay_us = (unsigned)atoi(variable_get("FAKE_CUDA_DELAY_US", "0"));
    config.seed = (unsigned)atoi(variable_get("FAKE_CUDA_SEED", "1"));
    config.random_order = strcmp(variable_get("FAKE_CUDA_ORDER", ""), "random") == 0;
    fake_faults_load(variable_get("FAKE_CUDA_FAIL", ""));
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
