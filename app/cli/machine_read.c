/* Reading machine files for commands, each in a Lua state of its own, so that one that is broken ends nothing else. */
#include "app/cli/interrupt.h"
#include "app/cli/machine.h"
#include "app/script/machine.h"
#include <string.h>

static void script_stop(void *context)
{
    mgb_script_interrupt(context);
}

enum mgb_status mgb_cli_machine_read(struct mgb_machine **out, char *fault, size_t size,
                                     const struct mgb_invocation *in, const char *name)
{
    const struct mgb_script_settings settings = {.lua_path = in->lua_path,
                                                 .lua_path_count = in->lua_path_count};
    struct mgb_script *script;
    *out = NULL;
    enum mgb_status status = mgb_script_make(&script, &settings);
    if (status != MGB_OK) {
        snprintf(fault, size, "%s", mgb_message_get());
        return status;
    }
    mgb_interrupt_target(script_stop, script);
    status = mgb_script_read_machine(script, out, name);
    mgb_interrupt_target(NULL, NULL);
    snprintf(fault, size, "%s", status == MGB_OK ? "" : mgb_script_error_get(script)->text);
    mgb_script_free(script);
    return status;
}

int mgb_cli_machine_gpus(const struct mgb_machine *machine)
{
    int count = 0;
    for (int i = 0; i < machine->device_count; i++)
        count += machine->devices[i].device.name.kind == MGB_DEVICE_GPU;
    return count;
}

char *mgb_cli_machine_kinds(char *out, size_t size, const struct mgb_machine *machine)
{
    size_t used = 0;
    *out = '\0';
    for (int i = 1, next; i < machine->device_count && used < size; i = next) {
        const char *label = machine->devices[i].device.label;
        for (next = i; next < machine->device_count; next++)
            if (strcmp(machine->devices[next].device.label, label) != 0)
                break;
        used += (size_t)snprintf(out + used, size - used, "%s%d x %s", used ? " + " : "", next - i,
                                 *label ? label : "GPU");
    }
    return out;
}
