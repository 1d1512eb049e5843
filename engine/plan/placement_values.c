/* Numbers, sizes and truth from text, the same in every locale. */
#include "engine/base/text.h"
#include "engine/plan/placement.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool mgb_value_read_bool(bool *out, const char *text)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "1", "0"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *out = i % 2 == 0;
            return true;
        }
    return false;
}

const char *mgb_value_skip_blanks(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

bool mgb_value_read_decimal(double *out, const char **text)
{
    const char *c = *text;
    char *end, number[64];
    int digits = 0;
    for (bool point = false; isdigit((unsigned char)*c) || (*c == '.' && !point); c++) {
        point = point || *c == '.';
        digits += *c != '.';
    }
    if (digits == 0 || digits > 18)
        return false;
    if (*c == 'e' && isdigit((unsigned char)c[1 + (c[1] == '-' || c[1] == '+')]))
        for (c += 2; isdigit((unsigned char)*c); c++)
            ;
    int length = (int)(c - *text);
    if (snprintf(number, sizeof number, "%.*s", length, *text) >= (int)sizeof number)
        return false;
    *out = mgb_number_read(number, &end);
    *text += end - number;
    return true;
}

bool mgb_value_read_int(int *out, const char **text, int most)
{
    long long value = 0;
    const char *c = *text;
    int digits = 0;
    for (; isdigit((unsigned char)*c) && value <= most; c++, digits++)
        value = value * 10 + (*c - '0');
    *out = (int)value;
    *text = c;
    return digits > 0 && value <= most;
}

bool mgb_value_read_bytes(int64_t *out, const char *text)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"", 1},
                 {"B", 1},
                 {"KiB", 1024.0},
                 {"MiB", 1048576.0},
                 {"GiB", 1073741824.0},
                 {"TiB", 1099511627776.0},
                 {"KB", 1e3},
                 {"MB", 1e6},
                 {"GB", 1e9},
                 {"TB", 1e12}};
    double value;
    if (!mgb_value_read_decimal(&value, &text))
        return false;
    text = mgb_value_skip_blanks(text);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcasecmp(text, units[i].unit) == 0 && value * units[i].bytes < 9e18) {
            *out = (int64_t)(value * units[i].bytes);
            return *out > 0;
        }
    return false;
}
