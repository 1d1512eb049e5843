/* Versions and the state of clocks, for the lines above a result. See configuration.h. */
#include "app/cli/configuration.h"
#include <mgb/run.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Members of a JSON object as people write them: "oneDNN 2.7.3, compiler gcc 12". */
static void members_write(char *out, size_t size, const char *members)
{
    size_t used = 0;
    for (const char *at = members; *at && used + 3 < size; at++) {
        if (*at == ':' || *at == ',')
            used += (size_t)sprintf(out + used, *at == ',' ? ", " : " ");
        else if (*at != '"')
            out[used++] = *at;
    }
    out[used] = '\0';
}

void mgb_cli_libraries_write(char *out, size_t size, const char *backend)
{
    char members[512] = "";
    (void)mgb_backend_versions(members, sizeof members, backend);
    members_write(out, size, members);
}

/* The first line of a file; "" when it cannot be read. */
static const char *line_read(char *out, size_t size, const char *path)
{
    FILE *file = fopen(path, "r");
    out[0] = '\0';
    if (file && fgets(out, (int)size, file))
        out[strcspn(out, "\n")] = '\0';
    if (file)
        fclose(file);
    return out;
}

void mgb_cli_clocks_write(char *out, size_t size)
{
    static const char folder[] = "/sys/devices/system/cpu/cpu0/cpufreq/";
    char path[96], text[64];
    double load;
    cpu_set_t allowed;
    snprintf(path, sizeof path, "%sscaling_governor", folder);
    size_t used = (size_t)snprintf(out, size, "governor %s",
                                   *line_read(text, sizeof text, path) ? text : "not known");
    snprintf(path, sizeof path, "%sscaling_cur_freq", folder); /* kHz */
    if (*line_read(text, sizeof text, path) && used < size)
        used += (size_t)snprintf(out + used, size - used, ", %.2f GHz", atof(text) / 1e6);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && used < size)
        used += (size_t)snprintf(out + used, size - used, ", %d core%s", CPU_COUNT(&allowed),
                                 CPU_COUNT(&allowed) == 1 ? "" : "s");
    if (getloadavg(&load, 1) == 1 && used < size)
        snprintf(out + used, size - used, ", load %.2f", load);
}
