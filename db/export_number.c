/* Numbers as text that reads back the same; see export.h. */
#include "db/export.h"

#include <math.h>
#include <string.h>
#include <mgb/text.h>

char *mgb_export_number(char out[MGB_EXPORT_NUMBER], double value, bool plain)
{
    out[0] = 0;
    if (!isfinite(value))
        return out;
    mgb_format_exact(out, value);
    if (!plain && !strpbrk(out, ".e"))
        strcat(out, ".0");
    return out;
}
