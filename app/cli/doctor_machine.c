/* Processors: who sets their clocks, who else uses them; see doctor.h. */
#include "app/cli/doctor.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS_MOST 1024
#define CPU "/sys/devices/system/cpu/"

bool mgb_doctor_line(char *out, size_t size, const char *root, const char *path)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    FILE *file = fopen(name, "re");
    bool got = file && fgets(out, (int)size, file);
    if (file)
        fclose(file);
    if (got)
        out[strcspn(out, "\n")] = '\0';
    return got && out[0];
}

bool mgb_doctor_number(long long *out, const char *root, const char *path)
{
    char text[64], *end;
    if (!mgb_doctor_line(text, sizeof text, root, path))
        return false;
    *out = strtoll(text, &end, 10);
    return end != text;
}

int mgb_doctor_cpus(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return CPU_COUNT(&allowed);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

struct clocks {
    int governed, slow;  /* CPUs with a governor, those whose is not "performance" */
    char governor[32];   /* one of the latter */
    int limited;         /* CPUs whose clock is held below what they can */
    long long limit_khz; /* of one of them */
};

static void clocks_read(struct clocks *out, const char *root)
{
    *out = (struct clocks){0};
    for (int i = 0; i < CPUS_MOST; i++) {
        char path[128], text[32];
        long long most, can;
        snprintf(path, sizeof path, CPU "cpu%d/cpufreq/scaling_governor", i);
        if (mgb_doctor_line(text, sizeof text, root, path)) {
            out->governed++;
            if (strcmp(text, "performance") != 0) {
                out->slow++;
                snprintf(out->governor, sizeof out->governor, "%s", text);
            }
        }
        snprintf(path, sizeof path, CPU "cpu%d/cpufreq/scaling_max_freq", i);
        bool told = mgb_doctor_number(&most, root, path);
        snprintf(path, sizeof path, CPU "cpu%d/cpufreq/cpuinfo_max_freq", i);
        if (told && mgb_doctor_number(&can, root, path) && most < can) {
            out->limited++;
            out->limit_khz = most;
        }
    }
}

static void clocks_say(const struct mgb_symptom_sink *sink, const char *root)
{
    struct clocks clocks;
    clocks_read(&clocks, root);
    if (clocks.governed == 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "governor", NULL,
                        "not told here (a virtual machine or container)");
    else if (clocks.slow > 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "governor",
                        "sudo cpupower frequency-set -g performance",
                        "%d of %d CPUs run under '%s': clocks follow the load", clocks.slow,
                        clocks.governed, clocks.governor);
    else
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "governor", NULL, "performance");
    if (clocks.limited > 0)
        mgb_symptom_say(
            sink, MGB_SYMPTOM_WARN, "frequency limit",
            "sudo cpupower frequency-set -u (the most the CPU can), or leave it and say so",
            "%d CPUs are held at %lld MHz, below what they can", clocks.limited,
            clocks.limit_khz / 1000);
}

static void turbo_say(const struct mgb_symptom_sink *sink, const char *root)
{
    long long off, boost;
    bool intel = mgb_doctor_number(&off, root, CPU "intel_pstate/no_turbo");
    bool other = !intel && mgb_doctor_number(&boost, root, CPU "cpufreq/boost");
    if (!intel && !other)
        return;
    bool on = intel ? off == 0 : boost != 0;
    mgb_symptom_say(sink, on ? MGB_SYMPTOM_WARN : MGB_SYMPTOM_OK, "turbo",
                    !on     ? NULL
                    : intel ? "echo 1 | sudo tee " CPU
                              "intel_pstate/no_turbo, for differences of a "
                              "few percent"
                            : "echo 0 | sudo tee " CPU "cpufreq/boost, for differences of a few "
                              "percent",
                    on ? "on: clocks depend on heat and on the neighbours" : "off");
}

static void clock_source_say(const struct mgb_symptom_sink *sink, const char *root)
{
    char name[64];
    if (!mgb_doctor_line(name, sizeof name, root,
                         "/sys/devices/system/clocksource/clocksource0/current_clocksource"))
        return;
    bool slow =
        strcmp(name, "hpet") == 0 || strcmp(name, "acpi_pm") == 0 || strcmp(name, "jiffies") == 0;
    mgb_symptom_say(sink, slow ? MGB_SYMPTOM_WARN : MGB_SYMPTOM_OK, "clock",
                    slow ? "see dmesg why the kernel gave up tsc" : NULL,
                    slow ? "'%s': reading the time is slow" : "%s", name);
}

static void load_say(const struct mgb_symptom_sink *sink, const char *root)
{
    char text[64];
    if (!mgb_doctor_line(text, sizeof text, root, "/proc/loadavg")) {
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "load", NULL, "not told here");
        return;
    }
    text[strcspn(text, " ")] = '\0';
    bool busy = strtol(text, NULL, 10) >= 1; /* whole ones: no locale has a say */
    mgb_symptom_say(sink, busy ? MGB_SYMPTOM_WARN : MGB_SYMPTOM_OK, "load",
                    busy ? "look with top; wait, or stop them" : NULL,
                    busy ? "%s on %d CPUs over the last minute: others are computing"
                         : "%s on %d CPUs over the last minute",
                    text, mgb_doctor_cpus());
}

static void threads_say(const struct mgb_symptom_sink *sink)
{
    int cpus = mgb_doctor_cpus();
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    const char *asked = getenv("OMP_NUM_THREADS"), *devices = getenv("MGBENCH_CPU_DEVICES");
    if (online > cpus)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "affinity",
                        "taskset -c 0-N, or the batch system's setting",
                        "this process may run on %d of %ld CPUs", cpus, online);
    else
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "affinity", NULL, "all %d CPUs", cpus);
    if (asked && strtol(asked, NULL, 10) > cpus)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "threads", "unset OMP_NUM_THREADS, or lower it",
                        "OMP_NUM_THREADS=%s is more than the %d CPUs: threads take turns", asked,
                        cpus);
    if (devices && strtol(devices, NULL, 10) > cpus)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "threads",
                        "fewer CPU devices, or trust only memory and bytes of such runs",
                        "MGBENCH_CPU_DEVICES=%s is more than the %d CPUs: towers take turns",
                        devices, cpus);
}

void mgb_doctor_machine(const struct mgb_symptom_sink *sink, const char *root)
{
    clocks_say(sink, root);
    turbo_say(sink, root);
    clock_source_say(sink, root);
    threads_say(sink);
    load_say(sink, root);
}
