/* Reading MGBENCH_FAULT. */
#include "engine/host/fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fault_form {
    const char *name, *key;
    enum mgb_fault_kind kind;
};

static const struct fault_form forms[] = {
    {"oom", "launch=", MGB_FAULT_OOM},
    {"hang", "launch=", MGB_FAULT_HANG},
    {"slow", "us=", MGB_FAULT_SLOW},
};

static enum mgb_status fault_refuse(const char *text)
{
    return mgb_fail(
        MGB_INVALID,
        "MGBENCH_FAULT: cannot read '%s'; write oom:/gpu:1:launch=5, hang:/gpu:1:launch=5 or "
        "slow:/gpu:1:us=2000, several separated by commas, and by ';' those of a later worker",
        text);
}

/* "kind:device:key=number" */
static enum mgb_status fault_read(struct mgb_fault *out, const char *text,
                                  const struct mgb_topology *topology)
{
    const char *kind_end = strchr(text, ':'), *device_end = strrchr(text, ':');
    if (!kind_end || device_end <= kind_end)
        return fault_refuse(text);
    const struct fault_form *form = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strlen(forms[i].name) == (size_t)(kind_end - text) &&
            strncmp(forms[i].name, text, (size_t)(kind_end - text)) == 0)
            form = &forms[i];
    if (!form || strncmp(device_end + 1, form->key, strlen(form->key)) != 0)
        return fault_refuse(text);
    char device[MGB_DEVICE_NAME_MAX], *end;
    snprintf(device, sizeof device, "%.*s", (int)(device_end - kind_end - 1), kind_end + 1);
    struct mgb_device_name name;
    if (mgb_device_parse(&name, device) != MGB_OK)
        return fault_refuse(text);
    errno = 0;
    const char *number = device_end + 1 + strlen(form->key);
    out->value = strtoll(number, &end, 10);
    if (end == number || *end || errno || out->value < 1)
        return fault_refuse(text);
    out->kind = form->kind;
    out->device = mgb_topology_find(topology, name);
    char list[256];
    if (out->device < 0)
        return mgb_fail(MGB_MISSING, "MGBENCH_FAULT names %s; present are %s", device,
                        mgb_topology_list(list, sizeof list, topology));
    return MGB_OK;
}

enum mgb_status mgb_host_faults_read(struct mgb_host_faults *out, const char *text,
                                     const struct mgb_topology *topology)
{
    out->count = 0;
    if (!text)
        return MGB_OK;
    while (*text && *text != ';') {
        char one[128];
        size_t length = strcspn(text, ",;");
        if (length >= sizeof one || out->count == MGB_MAX_FAULTS)
            return fault_refuse(text);
        memcpy(one, text, length);
        one[length] = '\0';
        MGB_TRY(fault_read(&out->at[out->count], one, topology));
        out->count++;
        text += length + (text[length] == ',');
    }
    return MGB_OK;
}

const struct mgb_fault *mgb_host_fault_find(const struct mgb_host_faults *faults, int device,
                                            long long launch, enum mgb_fault_kind kind)
{
    for (int i = 0; i < faults->count; i++) {
        const struct mgb_fault *fault = &faults->at[i];
        if (fault->device == device && fault->kind == kind &&
            (kind == MGB_FAULT_SLOW || fault->value == launch))
            return fault;
    }
    return NULL;
}
