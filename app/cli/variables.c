/* See variables.h. MGBENCH_FAULT is read by the backend that it is for, which knows its devices; TERM and the size of the terminal
 * by what draws there. */
#include "app/cli/variables.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct number {
    const char *name;
    bool whole;
    double least, most;
    const char *may_be;
} numbers[] = {
    {"MGBENCH_STEP_TIMEOUT", false, 0, 1e9, "give seconds, up to 1e9; 0: never"},
    {"MGBENCH_GNUPLOT_TIMEOUT", false, 0, 1e9, "give seconds, up to 1e9; 0: never"},
    {"MGBENCH_CPU_DEVICES", true, 1, 16, "give a number from 1 to 16"},
    {"MGBENCH_COLUMNS", true, 0, 1e6, "give a number of columns"},
};

/* Digits as people write them: strtod would also take blanks, signs, "nan", "infinity" and hexadecimal ones. */
static bool is_number(const struct number *number, const char *text)
{
    char *end;
    if (!*text || strspn(text, number->whole ? "0123456789" : "0123456789.eE+-") != strlen(text) ||
        !strchr("0123456789.", *text))
        return false;
    double value = strtod(text, &end);
    return !*end && value >= number->least && value <= number->most;
}

static enum mgb_status plugin_folder_check(void)
{
    const char *folder = getenv("MGBENCH_PLUGIN_DIR");
    struct stat info;
    if (!folder || (stat(folder, &info) == 0 && S_ISDIR(info.st_mode)))
        return MGB_OK;
    return mgb_fail(MGB_INVALID, "MGBENCH_PLUGIN_DIR is '%s', which is no folder", folder);
}

enum mgb_status mgb_cli_variables_check(void)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *text = getenv(numbers[i].name);
        if (text && !is_number(&numbers[i], text))
            return mgb_fail(MGB_INVALID, "%s is '%.200s'; %s", numbers[i].name, text,
                            numbers[i].may_be);
    }
    return plugin_folder_check();
}

double mgb_cli_variable_seconds(const char *name, double usual)
{
    const char *text = getenv(name);
    return text && *text ? strtod(text, NULL) : usual;
}
