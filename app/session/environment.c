/* What of the surroundings can change figures, as JSON: variables of the libraries in use, governor and load, and which GPU
 * each name was: names follow CUDA_VISIBLE_DEVICES and what shares a GPU, so they are another's in the next run. */
#include "app/session/rows.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

enum { MOST_VARIABLES = 64 };

static bool matters(const char *variable)
{
    static const char *const prefixes[] = {"OMP_",  "GOMP_",   "MGBENCH_", "CUDA_",   "NVIDIA_",
                                           "DNNL_", "ONEDNN_", "NCCL_",    "CUBLAS_", "MALLOC_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* `text` as the inside of a JSON string; false when it does not fit. */
static bool escape(char *out, size_t size, const char *text, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        char piece[8] = {(char)c};
        if (c == '"' || c == '\\')
            snprintf(piece, sizeof piece, "\\%c", c);
        else if (c < 0x20)
            snprintf(piece, sizeof piece, "\\u%04x", c);
        if (used + strlen(piece) >= size)
            return false;
        used += (size_t)sprintf(out + used, "%s", piece);
    }
    out[used] = '\0';
    return true;
}

/* Appends a member; one that does not fit is left out, so that the object stays whole. */
static void member_add(char *out, size_t size, const char *key, size_t key_length,
                       const char *value)
{
    char name[128], text[1024];
    size_t used = strlen(out);
    if (!escape(name, sizeof name, key, key_length) ||
        !escape(text, sizeof text, value, strlen(value)) ||
        used + strlen(name) + strlen(text) + 8 > size)
        return;
    sprintf(out + used, "%s\"%s\":\"%s\"", used > 1 ? "," : "", name, text);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void variables_add(char *out, size_t size)
{
    const char *found[MOST_VARIABLES];
    size_t count = 0;
    for (char **at = environ; at && *at && count < MOST_VARIABLES; at++)
        if (matters(*at) && strchr(*at, '='))
            found[count++] = *at;
    qsort(found, count, sizeof *found, by_text);
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(found[i], '=');
        member_add(out, size, found[i], (size_t)(equals - found[i]), equals + 1);
    }
}

static bool line_read(char *out, size_t size, const char *path)
{
    FILE *file = fopen(path, "r");
    bool got = file && fgets(out, (int)size, file);
    if (file)
        fclose(file);
    if (got)
        out[strcspn(out, "\n")] = '\0';
    return got && out[0];
}

static void state_add(char *out, size_t size)
{
    char text[64];
    double load;
    cpu_set_t allowed;
    if (line_read(text, sizeof text, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
        member_add(out, size, "cpu_governor", strlen("cpu_governor"), text);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        snprintf(text, sizeof text, "%d", CPU_COUNT(&allowed));
        member_add(out, size, "cpus_allowed", strlen("cpus_allowed"), text);
    }
    if (getloadavg(&load, 1) == 1) { /* in hundredths, so that no locale has a say */
        long hundredths = (long)(load * 100 + 0.5);
        snprintf(text, sizeof text, "%ld.%02ld", hundredths / 100, hundredths % 100);
        member_add(out, size, "load_average", strlen("load_average"), text);
    }
}

static void gpus_add(char *out, size_t size, const struct mgb_topology *topology)
{
    for (int i = 0; i < topology->device_count; i++) {
        const struct mgb_device *device = &topology->devices[i];
        char name[MGB_DEVICE_NAME_MAX], number[32] = "", text[320];
        if (device->class != MGB_CLASS_CUDA)
            continue;
        if (device->driver_index >= 0)
            snprintf(number, sizeof number, ", number %d", device->driver_index);
        snprintf(text, sizeof text, "%s, %s, %s%s", device->label, device->pci, device->uuid,
                 number);
        mgb_device_format(name, device->name);
        member_add(out, size, name, strlen(name), text);
    }
}

void mgb_session_environment(char *out, size_t size, const struct mgb_topology *topology)
{
    snprintf(out, size, "{");
    variables_add(out, size - 1);
    state_add(out, size - 1);
    if (topology)
        gpus_add(out, size - 1, topology);
    strcat(out, "}");
}
