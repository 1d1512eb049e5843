/* mgbench devices: what plans can be played on, and why on that. */
#include "app/cli/commands.h"
#include "app/cli/devices.h"
#include "app/cli/machine.h"
#include <mgb/preview.h>
#include <mgb/text.h>
#include <string.h>

static const char *kind_name(enum mgb_device_class class)
{
    switch (class) {
    case MGB_CLASS_CPU:
        return "cpu";
    case MGB_CLASS_CUDA:
        return "cuda";
    case MGB_CLASS_SIMULATED:
        return "sim";
    }
    return "cpu";
}

void mgb_cli_memory_add(struct mgb_table *table, int64_t bytes, enum mgb_table_format format)
{
    char text[32];
    if (bytes == 0) /* not limited */
        mgb_table_add_empty(table);
    else if (format == MGB_TABLE_TEXT)
        mgb_table_add_text(table, mgb_format_bytes(text, sizeof text, bytes));
    else
        mgb_table_add_integer(table, bytes);
}

static void identity_add(struct mgb_table *table, const struct mgb_device *device)
{
    mgb_table_add_text(table, device->pci[0] ? device->pci : NULL);
    mgb_table_add_text(table, device->uuid[0] ? device->uuid : NULL);
}

/* Only GPUs have an address and an identity of their own. */
static enum mgb_status devices_print(const struct mgb_topology *topology, const char *backend,
                                     enum mgb_table_format format)
{
    const char *const names[] = {
        "device", "kind", "backend", format == MGB_TABLE_TEXT ? "memory" : "memory_bytes",
        "label",  "pci",  "uuid"};
    struct mgb_table *table;
    bool gpus = topology->device_count > 1 && topology->devices[1].class == MGB_CLASS_CUDA;
    MGB_TRY(mgb_table_make(&table, gpus ? 7 : 5, names));
    for (int i = 0; i < topology->device_count; i++) {
        const struct mgb_device *device = &topology->devices[i];
        char name[MGB_DEVICE_NAME_MAX];
        mgb_table_add_text(table, mgb_device_format(name, device->name));
        mgb_table_add_text(table, kind_name(device->class));
        mgb_table_add_text(table, backend);
        mgb_cli_memory_add(table, device->memory_bytes, format);
        mgb_table_add_text(table, device->label);
        if (gpus)
            identity_add(table, device);
    }
    enum mgb_status status = mgb_table_print(table, format, stdout);
    mgb_table_free(table);
    return status;
}

static int machine_run(struct mgb_invocation *in)
{
    struct mgb_machine *machine;
    char fault[2048];
    if (in->backend && strcmp(in->backend, "auto") != 0 && strcmp(in->backend, "sim") != 0)
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "--machine: backend \"%s\" cannot play on a machine file; leave "
                                "--backend out, or give sim",
                                in->backend);
    enum mgb_status status = mgb_cli_machine_read(&machine, fault, sizeof fault, in, in->machine);
    if (status != MGB_OK)
        return mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", fault);
    status = mgb_cli_machine_show(machine, mgb_cli_find_flag(in, "--links"), in->format);
    mgb_machine_free(machine);
    return status == MGB_OK
               ? MGB_EXIT_OK
               : mgb_cli_complain(in, mgb_cli_exit_code(status), "%s", mgb_message_get());
}

static int devices_run(struct mgb_invocation *in)
{
    if (in->machine)
        return machine_run(in);
    struct mgb_topology topology;
    const char *backend;
    char remark[512];
    enum mgb_status status = mgb_preview_devices(&topology, &backend, remark, sizeof remark,
                                                 in->backend ? in->backend : "auto");
    if (status == MGB_OK) {
        status = mgb_cli_find_flag(in, "--links")
                     ? mgb_cli_devices_links(&topology, backend, in->format)
                     : devices_print(&topology, backend, in->format);
        mgb_topology_done(&topology);
    }
    if (status != MGB_OK)
        return mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", mgb_message_get());
    if (*remark && !in->quiet)
        fprintf(stderr, "%s: %s\n", in->program, remark);
    return MGB_EXIT_OK;
}

static const struct mgb_example examples[] = {
    {"mgbench devices", "which there are, and how much memory each has"},
    {"mgbench devices --machine dgx1-p100", "the wires of a machine for the simulator"},
    {NULL, NULL}};
static const struct mgb_flag flags[] = {
    {"--links", NULL, "try the ways between GPUs instead: with peer access and without", false},
    {NULL, NULL, NULL, false}};

const struct mgb_command mgb_command_devices = {
    .name = "devices",
    .usage = "[--links]",
    .summary = "the devices there are, and which backend plays on them",
    .help =
        "Without a GPU, CPU devices play GPUs: /gpu:0 and on are then of kind cpu. A memory of\n"
        "\"-\" is not limited (--gpu-memory limits it).\n"
        "\n"
        "--links copies between every two GPUs, with peer access and staged through the host, "
        "compares\n"
        "the bytes that arrive and times both. Runs do the same for the pairs they use: peer "
        "access that\n"
        "damages bytes is never used, a slow one only with --peer-access=true.\n"
        "\n"
        "--machine NAME draws a machine of the simulator instead (mgbench machines lists them): "
        "what "
        "hangs\n"
        "on what and how fast, figures by device, and copies between GPUs with and without peer "
        "access;\n"
        "with --links as a table.\n",
    .examples = examples,
    .flags = flags,
    .run = devices_run,
};
