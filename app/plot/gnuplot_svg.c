/* What gnuplot leaves in an SVG picture that is not for its readers: browsers show a <title> as a tooltip, and gnuplot's say
 * "$bars0_0 using 1:2:3:4:5:6". The names of what is drawn stand in the legend. */
#include "app/plot/gnuplot_private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Takes every whole <title> element out, the line that it leaves empty too; returns the length that is left. Texts of
 * people have no "<" in SVG. */
static size_t titles_strip(char *text)
{
    static const char end[] = "</title>";
    char *to = text;
    for (char *at = text; *at;) {
        char *close = strncmp(at, "<title>", 7) == 0 ? strstr(at, end) : NULL;
        if (!close) {
            *to++ = *at++;
            continue;
        }
        at = close + strlen(end);
        if (*at == '\n' && (to == text || to[-1] == '\n'))
            at++;
    }
    *to = '\0';
    return (size_t)(to - text);
}

static enum mgb_status rewrite_refuse(void)
{
    return mgb_fail(MGB_IO, "writing the picture failed: %s", strerror(errno));
}

enum mgb_status mgb_gnuplot_svg_clean(int file)
{
    struct stat is;
    if (fstat(file, &is) != 0)
        return rewrite_refuse();
    char *text = malloc((size_t)is.st_size + 1);
    if (!text)
        return mgb_fail(MGB_NO_MEMORY, "drawing a picture: memory is exhausted");
    ssize_t got = pread(file, text, (size_t)is.st_size, 0);
    text[got > 0 ? got : 0] = '\0';
    size_t left = got == is.st_size ? titles_strip(text) : 0, done = 0;
    bool good = got == is.st_size;
    while (good && done < left) {
        ssize_t wrote = pwrite(file, text + done, left - done, (off_t)done);
        good = wrote > 0 || (wrote < 0 && errno == EINTR);
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    good = good && ftruncate(file, (off_t)left) == 0;
    free(text);
    return good ? MGB_OK : rewrite_refuse();
}
