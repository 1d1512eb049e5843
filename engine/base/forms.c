/* Numbers and texts in the forms that tables, exports and plots share. Knows no table: one value at a time. */
#include "engine/base/text.h"

#include <math.h>
#include <string.h>

char *mgb_format_figure(char out[MGB_FIGURE], double value)
{
    bool whole = fabs(value) >= 1000 && fabs(value) < 1e15;
    mgb_format(out, MGB_FIGURE, whole ? "%.0f" : "%.4g", value);
    return out;
}

char *mgb_format_exact(char out[MGB_FIGURE], double value)
{
    /* 15 digits name every normal double that has so few; those below may need less than printf would give. */
    for (int digits = fabs(value) < 2.3e-308 ? 1 : 15; digits <= 17; digits++) {
        mgb_format(out, MGB_FIGURE, "%.*g", digits, value);
        if (mgb_number_read(out, NULL) == value)
            break;
    }
    return out;
}

void mgb_csv_put(FILE *out, const char *text, size_t size, bool quote_empty)
{
    bool quoted = size == 0 && quote_empty;
    for (size_t i = 0; i < size && !quoted; i++)
        quoted = text[i] == ',' || text[i] == '"' || text[i] == '\r' || text[i] == '\n';
    if (!quoted) {
        fwrite(text, 1, size, out);
        return;
    }
    fputc('"', out);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            fputc('"', out);
        fputc(text[i], out);
    }
    fputc('"', out);
}

void mgb_json_put(FILE *out, const char *text, size_t size)
{
    static const char escapes[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    fputc('"', out);
    for (size_t used; size > 0; text += used, size -= used) {
        uint32_t point;
        const char *escape = *text ? strchr(escapes, *text) : NULL;
        size_t length = mgb_character_read(&point, text, size);
        used = length ? length : 1;
        if (length == 0)
            fputs("\\ufffd", out);
        else if (escape)
            fprintf(out, "\\%c", letters[escape - escapes]);
        else if (point < 0x20)
            fprintf(out, "\\u%04x", (unsigned)point);
        else
            fwrite(text, 1, length, out);
    }
    fputc('"', out);
}
