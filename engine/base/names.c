/* "Did you mean": the nearest of a list of names by edit distance (Levenshtein, with transposition of neighbours). */
#include "engine/base/text.h"

#include <ctype.h>
#include <string.h>

#define NAME_MOST 63

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Rows of the usual table: `above2` and `above` are those for a[0..i-2) and a[0..i-1). */
static void distance_row(int *row, const int *above, const int *above2, const char *a, int i,
                         const char *b, int b_length)
{
    row[0] = i;
    for (int j = 1; j <= b_length; j++) {
        int swap = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
        row[j] = smaller(swap, smaller(above[j], row[j - 1]) + 1);
        if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
            row[j] = smaller(row[j], above2[j - 2] + 1);
    }
}

static int edit_distance(const char *a, const char *b)
{
    int rows[3][NAME_MOST + 1];
    int a_length = (int)strlen(a), b_length = (int)strlen(b);
    for (int j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (int i = 1; i <= a_length; i++)
        distance_row(rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3], a, i, b, b_length);
    return rows[a_length % 3][b_length];
}

const char *mgb_nearest_name(const char *wanted, const char *const *names, int count)
{
    size_t length = strlen(wanted);
    if (length == 0 || length > NAME_MOST)
        return NULL;
    const char *nearest = NULL;
    int least = (int)length / 3 + 2; /* a name that shares less than about two thirds is no help */
    for (int i = 0; i < count; i++) {
        if (strlen(names[i]) > NAME_MOST)
            continue;
        int distance = edit_distance(wanted, names[i]);
        if (distance < least && distance < (int)length) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
