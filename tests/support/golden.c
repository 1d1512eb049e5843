/* See golden.h. */
#include "tests/support/golden.h"

#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct golden golden_open(const char *path)
{
    const char *root = getenv("MGB_SOURCE_DIR");
    char full[1024];
    snprintf(full, sizeof full, "%s/tests/golden/%s", root ? root : ".", path);
    FILE *file = fopen(full, "rb");
    if (!file)
        fail_msg("golden file %s cannot be opened", full);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    struct golden golden = {malloc((size_t)size + 1)};
    assert_non_null(golden.text);
    assert_int_equal(fread(golden.text, 1, (size_t)size, file), size);
    golden.text[size] = '\0';
    fclose(file);
    return golden;
}

void golden_close(struct golden *golden)
{
    free(golden->text);
    golden->text = NULL;
}

void golden_read(const struct golden *golden, const char *label, float *out, int64_t count)
{
    char key[80];
    snprintf(key, sizeof key, "%s : ", label);
    const char *line = golden->text;
    while (line && strncmp(line, key, strlen(key)) != 0) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (!line)
        fail_msg("no tensor '%s' in the golden file", label);
    const char *at = strstr(line + strlen(key), ": ") + 2;
    for (int64_t i = 0; i < count; i++) {
        char *end;
        out[i] = strtof(at, &end);
        if (end == at)
            fail_msg("golden '%s' has %lld values, %lld wanted", label, (long long)i,
                     (long long)count);
        at = end;
    }
    if (*at != '\n')
        fail_msg("golden '%s' has more than %lld values", label, (long long)count);
}

void golden_formula(float *out, int64_t count, int salt, float scale)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)((uint64_t)(i + 1) * 2654435761u + (uint64_t)salt * 40503u);
        out[i] = (float)((double)(bits >> 8) / 8388608.0 - 1.0) * scale;
    }
}

double golden_difference(const float *got, const float *want, int64_t count)
{
    double largest = 0, scale = 1e-6;
    for (int64_t i = 0; i < count; i++) {
        double d = fabs((double)got[i] - want[i]);
        largest = d > largest || isnan(d) ? d : largest;
        scale = fabs(want[i]) > scale ? fabs(want[i]) : scale;
    }
    return isnan(largest) ? INFINITY : largest / scale;
}
