/* What the doctor reads from /sys and /proc: a root of our own stands for machines of every kind.
 * (reference/ecosystem.md, row 57 of section 2.) */
#include "tests/support/check.h"

#include "app/cli/doctor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64];

struct report {
    char text[8000]; /* "level what: text" a line */
    int warnings;
};

static void symptom_keep(void *context, const struct mgb_symptom *symptom)
{
    static const char *const levels[] = {"ok", "warn", "fail"};
    struct report *report = context;
    size_t used = strlen(report->text);
    report->warnings += symptom->level == MGB_SYMPTOM_WARN;
    assert_int_not_equal(symptom->level, MGB_SYMPTOM_FAIL); /* no machine is one */
    snprintf(report->text + used, sizeof report->text - used, "%s %s: %s\n", levels[symptom->level],
             symptom->what, symptom->text);
}

static void report_has(const struct report *report, const char *words)
{
    if (!strstr(report->text, words))
        fail_msg("the report lacks \"%s\":\n%s", words, report->text);
}

static void report_lacks(const struct report *report, const char *words)
{
    if (strstr(report->text, words))
        fail_msg("the report has \"%s\":\n%s", words, report->text);
}

static int root_setup(void **state)
{
    (void)state;
    strcpy(root, "/tmp/mgb-doctor-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int root_teardown(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

/* A file below the root, with its folders. */
static void put(const char *path, const char *text)
{
    char name[300];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *at = strchr(name + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(name, 0777);
        *at = '/';
    }
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

static struct report look(void (*part)(const struct mgb_symptom_sink *sink, const char *root))
{
    struct report report = {0};
    struct mgb_symptom_sink sink = {symptom_keep, &report};
    part(&sink, root);
    return report;
}

#define CPU "/sys/devices/system/cpu/"

static void nothing_to_read_is_no_fault(void **state)
{
    (void)state;
    struct report machine = look(mgb_doctor_machine), limits = look(mgb_doctor_limits);
    report_has(&machine, "ok governor: not told here");
    report_has(&machine, "ok load: not told here");
    report_has(&limits, "ok cpu limit: none by a control group");
    report_has(&limits, "ok memory: not told here");
    assert_int_equal(limits.warnings, 0);
}

static void governors_are_counted(void **state)
{
    (void)state;
    put(CPU "cpu0/cpufreq/scaling_governor", "performance");
    put(CPU "cpu1/cpufreq/scaling_governor", "powersave");
    struct report report = look(mgb_doctor_machine);
    report_has(&report, "warn governor: 1 of 2 CPUs run under 'powersave'");
    put(CPU "cpu1/cpufreq/scaling_governor", "performance");
    report = look(mgb_doctor_machine);
    report_has(&report, "ok governor: performance");
}

static void limited_clocks_and_turbo_are_told(void **state)
{
    (void)state;
    put(CPU "cpu0/cpufreq/scaling_max_freq", "1800000");
    put(CPU "cpu0/cpufreq/cpuinfo_max_freq", "3600000");
    put(CPU "intel_pstate/no_turbo", "0");
    struct report report = look(mgb_doctor_machine);
    report_has(&report, "warn frequency limit: 1 CPUs are held at 1800 MHz");
    report_has(&report, "warn turbo: on");
    put(CPU "intel_pstate/no_turbo", "1");
    put(CPU "cpu0/cpufreq/scaling_max_freq", "3600000");
    report = look(mgb_doctor_machine);
    report_has(&report, "ok turbo: off");
    report_lacks(&report, "frequency limit");
}

static void amd_turbo_and_slow_clocks_are_told(void **state)
{
    (void)state;
    put(CPU "cpufreq/boost", "1");
    put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
    struct report report = look(mgb_doctor_machine);
    report_has(&report, "warn turbo: on");
    report_has(&report, "warn clock: 'hpet'");
}

static void load_by_others_is_told(void **state)
{
    (void)state;
    put("/proc/loadavg", "12.50 3.00 1.00 2/345 6789");
    struct report report = look(mgb_doctor_machine);
    report_has(&report, "warn load: 12.50 on ");
    put("/proc/loadavg", "0.40 3.00 1.00 2/345 6789");
    report = look(mgb_doctor_machine);
    report_has(&report, "ok load: 0.40 on ");
}

static void limits_of_a_container_are_found_upwards(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/batch/job");
    put("/sys/fs/cgroup/batch/job/cpu.max", "max 100000");
    put("/sys/fs/cgroup/batch/cpu.max", "50000 100000");
    put("/sys/fs/cgroup/batch/job/memory.max", "max");
    put("/sys/fs/cgroup/batch/memory.max", "1073741824");
    put("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n"
                         "SwapTotal: 1000 kB\nSwapFree: 500 kB");
    struct report report = look(mgb_doctor_limits);
    report_has(&report, "warn cpu limit: a control group allows 0.5 of the ");
    report_has(&report, "warn memory limit: a control group allows 1.0 GiB");
    report_has(&report, "ok memory: 8.0 GiB of 16.0 GiB are available");
    report_has(&report, "warn swap: ");
}

static void limits_of_the_older_control_groups_are_found(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/");
    put("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "25000");
    put("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    struct report report = look(mgb_doctor_limits);
    report_has(&report, "a control group allows 0.3 of the ");
    report_lacks(&report, "memory limit");
}

static void little_memory_and_huge_pages_are_told(void **state)
{
    (void)state;
    put("/proc/meminfo",
        "MemTotal:       16777216 kB\nMemAvailable:    102400 kB\nSwapTotal: 0 kB\n"
        "SwapFree: 0 kB");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
    struct report report = look(mgb_doctor_limits);
    report_has(&report, "warn memory: 100.0 MiB of 16.0 GiB");
    report_has(&report, "ok swap: none");
    report_has(&report, "ok huge pages: madvise");
}

static void a_card_without_a_driver_is_told(void **state)
{
    (void)state;
    struct report report = look(mgb_doctor_gpus);
    report_lacks(&report, "gpu driver");
    put("/sys/bus/pci/devices/0000:65:00.0/vendor", "0x10de");
    put("/sys/bus/pci/devices/0000:65:00.0/class", "0x030200");
    put("/sys/bus/pci/devices/0000:65:00.1/vendor", "0x10de"); /* its audio */
    put("/sys/bus/pci/devices/0000:65:00.1/class", "0x040300");
    report = look(mgb_doctor_gpus);
    report_has(&report, "warn gpu driver: 1 NVIDIA GPUs on the bus, and no driver");
    put("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module  550.54");
    report = look(mgb_doctor_gpus);
    report_has(&report, "ok gpu driver: NVRM version");
}

static void variables_that_matter_are_listed(void **state)
{
    (void)state;
    char one[] = "CUDA_LAUNCH_BLOCKING=1", two[] = "OMP_NUM_THREADS=2", three[] = "HOME=/",
         four[] = "GOMP_SPINCOUNT=1000", five[] = "MGBENCH_DB=x";
    char *const some[] = {one, two, three, four, five, NULL}, *const none[] = {three, four, five,
                                                                               NULL};
    struct report report = {0}, quiet = {0};
    struct mgb_symptom_sink sink = {symptom_keep, &report}, other = {symptom_keep, &quiet};
    mgb_doctor_environment(&sink, some);
    assert_string_equal(report.text,
                        "warn environment: CUDA_LAUNCH_BLOCKING=1 makes runs slower, or other "
                        "ones\nok environment: OMP_NUM_THREADS=2 can change figures\n");
    mgb_doctor_environment(&other, none);
    assert_string_equal(quiet.text, "ok environment: no variable that changes figures\n");
}

int main(void)
{
#define DOCTOR_TEST(f) cmocka_unit_test_setup_teardown(f, root_setup, root_teardown)
    const struct CMUnitTest tests[] = {
        DOCTOR_TEST(nothing_to_read_is_no_fault),
        DOCTOR_TEST(governors_are_counted),
        DOCTOR_TEST(limited_clocks_and_turbo_are_told),
        DOCTOR_TEST(amd_turbo_and_slow_clocks_are_told),
        DOCTOR_TEST(load_by_others_is_told),
        DOCTOR_TEST(limits_of_a_container_are_found_upwards),
        DOCTOR_TEST(limits_of_the_older_control_groups_are_found),
        DOCTOR_TEST(little_memory_and_huge_pages_are_told),
        DOCTOR_TEST(a_card_without_a_driver_is_told),
        DOCTOR_TEST(variables_that_matter_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
