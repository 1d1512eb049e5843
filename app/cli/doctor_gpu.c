/* GPUs and the environment; see doctor.h. Clocks and persistence are asked of nvidia-smi, which comes with the driver. */
#include "app/cli/doctor.h"
#include <dirent.h>
#include <mgb/preview.h>
#include <mgb/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NVIDIA_VENDOR 0x10de
#define DISPLAY_CLASS 0x03 /* PCI class of display controllers */

/* Is there an NVIDIA GPU on the bus, driver or not? */
static int cards_count(const char *root)
{
    char name[512];
    int count = 0;
    snprintf(name, sizeof name, "%s/sys/bus/pci/devices", root);
    DIR *folder = opendir(name);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char path[400], vendor[32], class[32];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/sys/bus/pci/devices/%.200s/vendor", entry->d_name);
        if (!mgb_doctor_line(vendor, sizeof vendor, root, path))
            continue;
        snprintf(path, sizeof path, "/sys/bus/pci/devices/%.200s/class", entry->d_name);
        if (mgb_doctor_line(class, sizeof class, root, path) &&
            strtol(vendor, NULL, 16) == NVIDIA_VENDOR &&
            strtol(class, NULL, 16) >> 16 == DISPLAY_CLASS)
            count++;
    }
    if (folder)
        closedir(folder);
    return count;
}

static void hidden_say(const struct mgb_symptom_sink *sink)
{
    static const char *const names[] = {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (!value || strcmp(value, "all") == 0)
            continue;
        bool none = !*value || strcmp(value, "-1") == 0 || strcmp(value, "none") == 0 ||
                    strcmp(value, "void") == 0;
        mgb_symptom_say(sink, none ? MGB_SYMPTOM_WARN : MGB_SYMPTOM_OK, "gpus hidden",
                        none ? "unset it to see the GPUs" : NULL,
                        none ? "%s='%s' hides every GPU" : "%s=%s chooses among the GPUs", names[i],
                        value);
    }
}

/* One line of nvidia-smi: "0, Enabled, 3 %, 0x0000000000000000". */
static void card_say(const struct mgb_symptom_sink *sink, char *line)
{
    char *fields[4], *rest = line;
    for (int i = 0; i < 4; i++) {
        fields[i] = rest ? strsep(&rest, ",") : NULL;
        if (!fields[i])
            return;
        fields[i] += strspn(fields[i], " ");
    }
    if (strncmp(fields[1], "Disabled", 8) == 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "persistence", "sudo nvidia-smi -pm 1",
                        "GPU %s: off: the driver is loaded anew for every process", fields[0]);
    if (strtol(fields[2], NULL, 10) >= 5)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "gpu load",
                        "look with nvidia-smi; wait, or stop them",
                        "GPU %s is %s busy: others are computing on it", fields[0], fields[2]);
    unsigned long long reasons = strtoull(fields[3], NULL, 16);
    if (reasons & ~1ULL) /* the first bit: idle */
        mgb_symptom_say(
            sink, MGB_SYMPTOM_WARN, "gpu clocks",
            "nvidia-smi -q -d PERFORMANCE says why; sudo nvidia-smi -lgc MHZ holds them",
            "GPU %s: clocks are held down (reasons 0x%llx)", fields[0], reasons);
}

static void clocks_say(const struct mgb_symptom_sink *sink)
{
    char line[256];
    int cards = 0;
    FILE *answer = popen("nvidia-smi --query-gpu=index,persistence_mode,utilization.gpu,"
                         "clocks_throttle_reasons.active --format=csv,noheader 2>/dev/null",
                         "re");
    while (answer && fgets(line, sizeof line, answer)) {
        line[strcspn(line, "\n")] = '\0';
        cards++;
        card_say(sink, line);
    }
    int code = answer ? pclose(answer) : -1;
    if (code != 0 || cards == 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "gpu clocks",
                        "install nvidia-smi (it comes with the driver), or look where there is one",
                        "persistence and clocks are not known: nvidia-smi does not answer");
}

/* Runs record clocks, power, heat and what throttles beside the steps; without a word where they cannot. */
static void sensors_say(const struct mgb_symptom_sink *sink, const struct mgb_topology *topology)
{
    for (int i = 0; i < topology->device_count; i++) {
        struct mgb_sensed sensed;
        char name[MGB_DEVICE_NAME_MAX];
        if (topology->devices[i].class != MGB_CLASS_CUDA ||
            mgb_backend_sense(&sensed, "cuda", &topology->devices[i]) == MGB_OK)
            continue;
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "gpu sensors",
                        "runs go on without clocks, power, temperature and throttling; NVML comes "
                        "with the driver, and MGBENCH_NVML names another",
                        "%s: %s", mgb_device_format(name, topology->devices[i].name),
                        mgb_message_get());
        return;
    }
}

static void devices_say(const struct mgb_symptom_sink *sink, const struct mgb_topology *topology)
{
    char size[32], name[MGB_DEVICE_NAME_MAX], versions[256];
    for (int i = 0; i < topology->device_count; i++) {
        const struct mgb_device *device = &topology->devices[i];
        if (device->class == MGB_CLASS_CUDA)
            mgb_symptom_say(sink, MGB_SYMPTOM_OK, "gpu", NULL, "%s: %s, %s, %s, %s",
                            mgb_device_format(name, device->name), device->label,
                            mgb_format_bytes(size, sizeof size, device->memory_bytes), device->uuid,
                            device->pci);
    }
    sensors_say(sink, topology);
    if (mgb_backend_versions(versions, sizeof versions, "cuda") == MGB_OK && versions[0])
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "gpu libraries", NULL, "%s", versions);
}

void mgb_doctor_gpus(const struct mgb_symptom_sink *sink, const char *root)
{
    struct mgb_topology topology;
    const char *backend;
    char driver[200];
    int cards = cards_count(root);
    bool driven = mgb_doctor_line(driver, sizeof driver, root, "/proc/driver/nvidia/version");
    hidden_say(sink);
    if (driven)
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "gpu driver", NULL, "%s", driver);
    else if (cards > 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "gpu driver",
                        "install the NVIDIA driver, or load it: "
                        "sudo modprobe nvidia",
                        "%d NVIDIA GPUs on the bus, and no driver", cards);
    if (mgb_preview_devices(&topology, &backend, NULL, 0, "cuda") != MGB_OK) {
        mgb_symptom_say(sink, driven || cards > 0 ? MGB_SYMPTOM_WARN : MGB_SYMPTOM_OK, "gpus", NULL,
                        "none is used: %s", mgb_message_get());
        return;
    }
    devices_say(sink, &topology);
    mgb_topology_done(&topology);
    clocks_say(sink);
}

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Those that slow runs down or watch them; others of the families only change figures, and are stored with each run. */
static const char *mend_find(const char *variable)
{
    static const char *const slow[] = {"CUDA_LAUNCH_BLOCKING=1",
                                       "DNNL_VERBOSE=",
                                       "ONEDNN_VERBOSE=",
                                       "NCCL_DEBUG=",
                                       "MGBENCH_CANARIES=",
                                       "MALLOC_CHECK_=",
                                       "MALLOC_PERTURB_=",
                                       "LD_PRELOAD=",
                                       "CUDA_DEVICE_WAITS_ON_EXCEPTION=1"};
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (starts(variable, slow[i]) && !strstr(variable, "VERBOSE=0"))
            return "unset it for figures that count";
    return NULL;
}

void mgb_doctor_environment(const struct mgb_symptom_sink *sink, char *const *environment)
{
    static const char *const families[] = {
        "OMP_",  "GOMP_",   "KMP_",   "CUDA_",   "NVIDIA_TF32",     "DNNL_",       "ONEDNN_",
        "NCCL_", "CUBLAS_", "CUDNN_", "MALLOC_", "GLIBC_TUNABLES=", "LD_PRELOAD=", "MGBENCH_"};
    int found = 0;
    for (char *const *at = environment; at && *at; at++) {
        bool ours = starts(*at, "GOMP_SPINCOUNT=1000") || /* set by the program itself */
                    starts(*at, "MGBENCH_DB=") || starts(*at, "CUDA_HOME=") ||
                    starts(*at, "CUDA_PATH") || starts(*at, "CUDA_VISIBLE_DEVICES=");
        for (size_t i = 0; !ours && i < sizeof families / sizeof *families; i++) {
            if (!starts(*at, families[i]))
                continue;
            const char *mend = mend_find(*at);
            mgb_symptom_say(sink, mend ? MGB_SYMPTOM_WARN : MGB_SYMPTOM_OK, "environment", mend,
                            mend ? "%.200s makes runs slower, or other ones"
                                 : "%.200s can change figures",
                            *at);
            found++;
            break;
        }
    }
    if (found == 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "environment", NULL,
                        "no variable that changes figures");
}
