/* Numbers as text that reads back the same; see export.h. */
#include "db/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* printf and strtod speak the locale's language here; what is no digit, sign or exponent is its decimal point. */
static void point_mend(char *text)
{
    char *at = text + strspn(text, "+-0123456789e");
    if (!*at)
        return;
    size_t length = strcspn(at, "+-0123456789e");
    *at = '.';
    memmove(at + 1, at + length, strlen(at + length) + 1);
}

char *mgb_export_number(char out[MGB_EXPORT_NUMBER], double value, bool plain)
{
    out[0] = 0;
    if (!isfinite(value))
        return out;
    /* 15 digits name every normal double that has so few; those below may need less than printf would give. */
    for (int digits = fabs(value) < 2.3e-308 ? 1 : 15; digits <= 17; digits++) {
        snprintf(out, MGB_EXPORT_NUMBER, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    point_mend(out);
    if (!plain && !strpbrk(out, ".e"))
        strcat(out, ".0");
    return out;
}
