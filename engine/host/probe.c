/* What the machine offers as CPU devices: /cpu:0 and beside it up to sixteen that play GPUs. Nothing is opened here, a
 * device that no plan uses costs nothing. */
#include "engine/host/host.h"

#include "engine/base/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_DEVICES 16

static enum mgb_status count_read(int *out)
{
    const char *text = getenv("MGBENCH_CPU_DEVICES");
    *out = MOST_DEVICES;
    if (!text || !*text)
        return MGB_OK;
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 1 || value > MOST_DEVICES)
        return mgb_fail(MGB_INVALID, "MGBENCH_CPU_DEVICES is '%s'; give a number from 1 to %d",
                        text, MOST_DEVICES);
    *out = (int)value;
    return MGB_OK;
}

/* "AMD EPYC 7763, 2 cores" */
static void label_read(char *out, size_t size)
{
    char line[256], model[80] = "CPU";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        snprintf(model, sizeof model, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        break;
    }
    if (file)
        fclose(file);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(out, size, "%s, %ld %s", model, cores, cores == 1 ? "core" : "cores");
}

static void devices_fill(struct mgb_topology *topology)
{
    char label[sizeof topology->devices->label];
    label_read(label, sizeof label);
    for (int i = 0; i < topology->device_count; i++) {
        struct mgb_device *device = &topology->devices[i];
        device->name.kind = i == 0 ? MGB_DEVICE_CPU : MGB_DEVICE_GPU;
        device->name.index = i == 0 ? 0 : i - 1;
        device->class = MGB_CLASS_CPU;
        memcpy(device->label, label, sizeof label);
    }
    struct mgb_link *link = topology->links;
    for (int from = 0; from < topology->device_count; from++)
        for (int to = 0; to < topology->device_count; to++)
            if (from != to)
                *link++ = (struct mgb_link){.from = from, .to = to, .peer = true};
}

enum mgb_status mgb_host_probe(struct mgb_topology *out)
{
    int count;
    memset(out, 0, sizeof *out);
    MGB_TRY(count_read(&count));
    int devices = count + 1, links = devices * (devices - 1);
    out->devices = mgb_alloc((size_t)devices * sizeof *out->devices);
    out->links = mgb_alloc((size_t)links * sizeof *out->links);
    if (!out->devices || !out->links) {
        mgb_release(out->devices);
        mgb_release(out->links);
        memset(out, 0, sizeof *out);
        return mgb_fail(MGB_NO_MEMORY, "no memory to list %d CPU devices", devices);
    }
    out->device_count = devices;
    out->link_count = links;
    if (gethostname(out->machine, sizeof out->machine - 1) != 0)
        strcpy(out->machine, "this machine");
    devices_fill(out);
    return MGB_OK;
}
