/* Which GPUs there are, and whether they are meant to be used. */
#include "tests/gpu/card.h"

#include <mgb/status.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 1, SKIPPED = 77 };

struct card card;

static int skip(const char *why)
{
    printf("SKIP: %s\n", why);
    return SKIPPED;
}

/* The plugin over the fake runtime, in place of the real one. */
static bool fake_choose(void)
{
    char folder[4096];
    const char *build = getenv("MGB_BUILD_DIR");
    snprintf(folder, sizeof folder, "%s/fake_plugin", build ? build : ".");
    unsetenv("CUDA_VISIBLE_DEVICES");
    setenv("FAKE_CUDA_DEVICES", "2", 0);
    setenv("MGBENCH_PLUGIN_DIR", folder, 1);
    return access(folder, R_OK) == 0;
}

static unsigned seed_draw(void)
{
    const char *given = getenv("MGB_SEED");
    struct timespec now;
    if (given)
        return (unsigned)strtoul(given, NULL, 10);
    clock_gettime(CLOCK_REALTIME, &now);
    return (unsigned)(now.tv_sec * 1000003 + now.tv_nsec) & 0x7fffffff;
}

/* A run on fake GPUs must never pass for one on hardware. */
static int devices_look(const struct mgb_topology *topology)
{
    int status = 0;
    for (int i = 0; i < topology->device_count; i++) {
        const struct mgb_device *device = &topology->devices[i];
        if (device->class != MGB_CLASS_CUDA)
            continue;
        card.count++;
        printf("/gpu:%d: %s\n", device->name.index, device->label);
        if ((strncmp(device->label, "Fake", 4) == 0) != card.fake)
            status = FAILED;
    }
    if (status != 0)
        printf("these are not the GPUs that MGB_GPU=%s means\n", getenv("MGB_GPU"));
    return status;
}

int card_find(void)
{
    const char *wanted = getenv("MGB_GPU");
    struct mgb_topology topology;
    setvbuf(stdout, NULL, _IOLBF, 0);
    card.fake = wanted && strcmp(wanted, "fake") == 0;
    card.brief = card.fake || (wanted && strcmp(wanted, "brief") == 0);
    if (!wanted || (!card.brief && strcmp(wanted, "1") != 0))
        return skip("MGB_GPU=1 runs this on the GPUs of this machine, MGB_GPU=fake on fake ones");
    if (card.fake && !fake_choose())
        return skip("no CUDA plugin over the fake runtime");
    card.cuda = mgb_backend_find("cuda");
    if (!card.cuda || card.cuda->probe(&topology) != MGB_OK)
        return skip(mgb_message_get());
    card.seed = seed_draw();
    printf("MGB_SEED=%u\n", card.seed);
    int status = devices_look(&topology);
    mgb_topology_done(&topology);
    return status;
}

int card_count(int many, int few)
{
    return card.brief ? few : many;
}
