/* Where, what and how: the rows of machine, model and run. */
#include "app/script/state.h"
#include "app/session/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The value of `key` in /proc/cpuinfo, or "unknown". */
static void cpu_name(char *out, size_t size)
{
    snprintf(out, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%s", colon + 2);
        break;
    }
    fclose(file);
}

void mgb_session_machine_kind(char *cpu, size_t size, int64_t *threads)
{
    cpu_name(cpu, size);
    *threads = sysconf(_SC_NPROCESSORS_ONLN);
}

static void os_name(char *out, size_t size)
{
    snprintf(out, size, "unknown");
    FILE *file = fopen("/etc/os-release", "r");
    if (!file)
        return;
    char line[256], name[64];
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "PRETTY_NAME=\"%63[^\"]", name) == 1) {
            snprintf(out, size, "%s", name);
            break;
        }
    fclose(file);
}

/* FNV-1a (Fowler, Noll, Vo): the key only has to differ when the description does. */
static void key_make(char *out, size_t size, const char *const *parts, int count)
{
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < count; i++)
        for (size_t c = 0; c <= strlen(parts[i]); c++) /* the end of a part counts too */
            hash = (hash ^ (unsigned char)parts[i][c]) * 1099511628211u;
    snprintf(out, size, "%016llx", (unsigned long long)hash);
}

/* Physical cores: hardware threads that are the first of their core. Unknown where the kernel does not tell. */
static struct mgb_maybe_int cores_count(void)
{
    long threads = sysconf(_SC_NPROCESSORS_CONF);
    int64_t cores = 0;
    for (long cpu = 0; cpu < threads; cpu++) {
        char path[96];
        long first;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/topology/thread_siblings_list",
                 cpu);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%ld", &first) == 1)
            cores += first == cpu;
        if (file)
            fclose(file);
    }
    return cores > 0 ? MGB_KNOWN_INT(cores) : (struct mgb_maybe_int){0};
}

static const char *class_name(enum mgb_device_class class)
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

/* Of NVIDIA's kernel module, "550.54.15": the first word that is a number with a point; "" without the module. */
static void driver_version(char *out, size_t size)
{
    char line[256];
    size_t length;
    *out = '\0';
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (!file)
        return;
    bool got = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    for (const char *word = line; got && *word; word += length) {
        word += strspn(word, " \t\n");
        length = strcspn(word, " \t\n");
        if (length > 0 && strspn(word, "0123456789.") == length && memchr(word, '.', length)) {
            snprintf(out, size, "%.*s", (int)length, word);
            return;
        }
    }
}

static void describe_gpu(struct mgb_record_device *row, const struct mgb_device *device,
                         const char *driver)
{
    row->compute_capability = device->capability[0] ? device->capability : NULL;
    row->driver_version = driver[0] ? driver : NULL;
    if (device->cores)
        row->cores = MGB_KNOWN_INT(device->cores);
    if (device->clock_mhz)
        row->clock_mhz = MGB_KNOWN_INT(device->clock_mhz);
    if (device->driver_index >= 0)
        row->driver_index = MGB_KNOWN_INT(device->driver_index);
}

static void describe_devices(struct session_description *out, const struct mgb_topology *topology)
{
    int room = (int)(sizeof out->devices / sizeof out->devices[0]);
    int count = topology->device_count < room ? topology->device_count : room;
    for (int i = 0; i < count; i++) {
        const struct mgb_device *device = &topology->devices[i];
        struct mgb_record_device *row = &out->devices[i];
        row->name = mgb_device_format(out->names[i], device->name);
        row->kind = class_name(device->class);
        row->product = device->label;
        row->uuid = device->uuid[0] ? device->uuid : NULL;
        row->pci = device->pci[0] ? device->pci : NULL;
        if (device->memory_bytes)
            row->memory_bytes = MGB_KNOWN_INT(device->memory_bytes);
        if (device->class == MGB_CLASS_CUDA)
            describe_gpu(row, device, out->driver);
        if (device->class != MGB_CLASS_CPU)
            continue;
        row->cores = out->machine_row.cores; /* CPU devices share what the machine has */
        row->memory_bytes = out->machine_row.memory_bytes;
    }
    out->machine_row.devices = out->devices;
    out->machine_row.device_count = count;
}

static void machine_name(char *out, size_t size)
{
    struct utsname kernel;
    uname(&kernel);
    snprintf(out, size, "%.63s", kernel.nodename);
}

static void machine_key(char *out, size_t size, const char *machine, const char *cpu)
{
    char numbers[64];
    snprintf(numbers, sizeof numbers, "%ld %ld", sysconf(_SC_NPROCESSORS_ONLN),
             sysconf(_SC_PHYS_PAGES));
    key_make(out, size, (const char *[]){machine, cpu, numbers}, 3);
}

void mgb_session_machine_key(char *out, size_t size)
{
    char machine[64], cpu[96];
    machine_name(machine, sizeof machine);
    cpu_name(cpu, sizeof cpu);
    machine_key(out, size, machine, cpu);
}

/* The machine of a file, as the run saw it: nothing of where it is simulated. */
static void describe_simulated(struct session_description *out, const struct mgb_machine *machine)
{
    char digest[24];
    int room = (int)(sizeof out->devices / sizeof out->devices[0]);
    int count = machine->device_count < room ? machine->device_count : room;
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)mgb_machine_digest(machine));
    key_make(out->key, sizeof out->key, (const char *[]){"simulated", machine->name, digest}, 3);
    out->machine_row = (struct mgb_record_machine){.key = out->key,
                                                   .name = machine->name,
                                                   .simulated = true,
                                                   .source = machine->source,
                                                   .cpu = machine->devices[0].device.label,
                                                   .devices = out->devices,
                                                   .device_count = count};
    if (machine->host.cores > 0)
        out->machine_row.cores = MGB_KNOWN_INT(machine->host.cores);
    for (int i = 0; i < count; i++) {
        const struct mgb_machine_device *device = &machine->devices[i];
        struct mgb_record_device *row = &out->devices[i];
        row->name = mgb_device_format(out->names[i], device->device.name);
        row->kind = class_name(device->device.class);
        row->product = device->device.label;
        row->memory_gbps = MGB_KNOWN_REAL(device->memory_gbps);
        row->f32_tflops = MGB_KNOWN_REAL(device->tflops[0]);
        if (device->device.memory_bytes)
            row->memory_bytes = MGB_KNOWN_INT(device->device.memory_bytes);
        if (device->device.cores)
            row->cores = MGB_KNOWN_INT(device->device.cores);
    }
}

static void describe_machine(struct session_description *out, const struct mgb_topology *topology)
{
    struct utsname kernel;
    uname(&kernel);
    snprintf(out->kernel, sizeof out->kernel, "%.40s %.50s", kernel.sysname, kernel.release);
    machine_name(out->machine, sizeof out->machine);
    cpu_name(out->cpu, sizeof out->cpu);
    os_name(out->os, sizeof out->os);
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
    machine_key(out->key, sizeof out->key, out->machine, out->cpu);
    out->machine_row = (struct mgb_record_machine){
        .key = out->key,
        .name = out->machine,
        .cpu = out->cpu,
        .os = out->os,
        .kernel = out->kernel,
        .cores = cores_count(),
        .threads = MGB_KNOWN_INT(cores),
        .memory_bytes = MGB_KNOWN_INT((int64_t)pages * sysconf(_SC_PAGESIZE)),
    };
    if (topology)
        describe_devices(out, topology);
}

#ifdef __OPTIMIZE__
#define BUILD "release"
#else
#define BUILD "debug"
#endif

/* What the run stands on. A backend that cannot say leaves its part out. */
static void describe_versions(char *out, size_t size, const struct mgb_hub *hub,
                              const char *backend, const char *driver)
{
    char libraries[256] = "";
    const char *own = hub->options.program_version, *commit = hub->options.commit;
    (void)mgb_backend_versions(libraries, sizeof libraries, backend);
    snprintf(out, size,
             "{\"mgbench\":\"%s\"%s%s%s,\"build\":\"" BUILD
             "\",\"SQLite\":\"%s\",\"Lua\":\"%s\"%s%s%s%s%s}",
             own ? own : "unknown", commit ? ",\"commit\":\"" : "", commit ? commit : "",
             commit ? "\"" : "", mgb_db_library_version(), mgb_script_lua_version(),
             driver[0] ? ",\"driver\":\"" : "", driver, driver[0] ? "\"" : "",
             libraries[0] ? "," : "", libraries);
}

void mgb_session_describe(struct session_description *out, const struct mgb_hub *hub,
                          const struct script_open_request *request,
                          const struct mgb_topology *topology, const char *backend)
{
    *out = (struct session_description){0};
    if (strcmp(backend, "cuda") == 0)
        driver_version(out->driver, sizeof out->driver);
    if (request->machine) {
        describe_simulated(out, request->machine);
    } else {
        describe_machine(out, topology);
        mgb_session_environment(out->environment, sizeof out->environment, topology);
    }
    if (topology)
        describe_versions(out->versions, sizeof out->versions, hub, backend, out->driver);
    snprintf(out->digest, sizeof out->digest, "%016llx",
             (unsigned long long)mgb_graph_digest(request->graph));
    out->model_row = (struct mgb_record_model){
        .name = request->model,
        .options = request->model_options,
        .graph_digest = out->digest,
        .parameters = MGB_KNOWN_INT(mgb_graph_parameters(request->graph)),
        .forward_flops = MGB_KNOWN_INT((int64_t)mgb_graph_forward_flops(request->graph)),
    };
    out->run_row = (struct mgb_record_run){
        .machine = &out->machine_row,
        .model = &out->model_row,
        .backend = backend,
        .simulated = request->machine != NULL,
        .seed = MGB_KNOWN_INT((int64_t)request->seed),
        .script = hub->options.script,
        .script_digest = hub->options.script_digest,
        .command = hub->options.command,
        .program_version = hub->options.program_version,
        .environment = out->environment[0] ? out->environment : NULL,
        .versions = out->versions[0] ? out->versions : NULL,
        .data = request->data && request->data[0] ? request->data : NULL,
    };
}
