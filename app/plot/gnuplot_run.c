/* Pictures through gnuplot: script in, picture out. Files instead of pipes, so that neither side can wait for the other.
 * See gnuplot.h. */
#include "app/plot/gnuplot_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool mgb_gnuplot_there(void)
{
    const char *path = getenv("PATH");
    char file[4096];
    for (const char *end; path && *path; path = *end ? end + 1 : end) {
        end = strchrnul(path, ':');
        struct stat found;
        int length = snprintf(file, sizeof file, "%.*s/gnuplot", (int)(end - path), path);
        if (length < (int)sizeof file && stat(file, &found) == 0 && S_ISREG(found.st_mode) &&
            access(file, X_OK) == 0)
            return true;
    }
    return false;
}

/* The script in a file of memory, to be read from its start. */
static enum mgb_status script_keep(int *out, const struct mgb_picture *picture,
                                   enum mgb_picture_format format,
                                   const struct mgb_picture_size *size)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return mgb_fail(MGB_NO_MEMORY, "drawing a picture: memory is exhausted");
    enum mgb_status status = mgb_gnuplot_script(picture, format, size, stream);
    if (fclose(stream) != 0 && status == MGB_OK)
        status = mgb_fail(MGB_NO_MEMORY, "drawing a picture: memory is exhausted");
    int file = status == MGB_OK ? memfd_create("mgbench-gnuplot", MFD_CLOEXEC) : -1;
    for (size_t done = 0; file >= 0 && done < length;) {
        ssize_t wrote = write(file, text + done, length - done);
        if (wrote < 0 && errno != EINTR) {
            close(file);
            file = -1;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    free(text);
    if (status == MGB_OK && file < 0)
        return mgb_fail(MGB_IO, "drawing a picture: no file for gnuplot's script: %s",
                        strerror(errno));
    if (file >= 0)
        lseek(file, 0, SEEK_SET);
    *out = file;
    return status;
}

/* Draws into an open file. */
static enum mgb_status picture_draw(const struct mgb_picture *picture,
                                    enum mgb_picture_format format,
                                    const struct mgb_picture_size *size, int file)
{
    int script = -1;
    if (!mgb_gnuplot_there())
        return mgb_fail(MGB_MISSING, "no gnuplot on PATH, which draws pictures into files: install "
                                     "it (Debian: apt-get install gnuplot-nox), or leave the file "
                                     "away for a picture of text");
    MGB_TRY(script_keep(&script, picture, format, size));
    int complaints = memfd_create("mgbench-gnuplot-errors", MFD_CLOEXEC);
    enum mgb_status status = complaints >= 0
                                 ? mgb_gnuplot_run(script, file, complaints)
                                 : mgb_fail(MGB_IO, "starting gnuplot failed: %s", strerror(errno));
    struct stat made;
    if (status == MGB_OK && (fstat(file, &made) != 0 || made.st_size == 0))
        status = mgb_gnuplot_fail(complaints, 0);
    if (status == MGB_OK && format == MGB_PICTURE_SVG)
        status = mgb_gnuplot_svg_clean(file);
    if (complaints >= 0)
        close(complaints);
    close(script);
    return status;
}

static enum mgb_status file_refuse(const char *path)
{
    return mgb_fail(MGB_IO, "writing the picture '%s' failed: %s", path, strerror(errno));
}

enum mgb_status mgb_picture_write(const struct mgb_picture *picture, const char *path,
                                  const struct mgb_picture_size *size)
{
    enum mgb_picture_format format;
    char *fresh;
    MGB_TRY(mgb_picture_format_find(&format, path));
    if (asprintf(&fresh, "%s.partial", path) < 0) /* one that was killed leaves it to the next */
        return mgb_fail(MGB_NO_MEMORY, "drawing a picture: memory is exhausted");
    int file = open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    enum mgb_status status =
        file >= 0 ? picture_draw(picture, format, size, file) : file_refuse(path);
    if (file >= 0) {
        bool whole = close(file) == 0 || status != MGB_OK;
        if (status == MGB_OK && (!whole || rename(fresh, path) != 0))
            status = file_refuse(path);
        if (status != MGB_OK)
            unlink(fresh);
    }
    free(fresh);
    return status;
}

static bool text_at(const char *at, const char *what)
{
    return strncmp(at, what, strlen(what)) == 0;
}

/* Copies the <svg> element with `prefix` before every id and every mention of one: ids are unique in a page. */
static void element_copy(const char *text, const char *prefix, FILE *out)
{
    static const char *const before[] = {"id='", "id=\"", "href='#", "href=\"#", "url(#"};
    for (const char *at = text; *at;) {
        size_t i = 0, count = sizeof before / sizeof *before;
        while (i < count && !text_at(at, before[i]))
            i++;
        if (i < count) {
            fprintf(out, "%s%s", before[i], prefix);
            at += strlen(before[i]);
        } else {
            fputc(*at++, out);
        }
    }
}

static char *file_read(int file)
{
    struct stat is;
    char *text = fstat(file, &is) == 0 ? malloc((size_t)is.st_size + 1) : NULL;
    ssize_t got = text ? pread(file, text, (size_t)is.st_size, 0) : -1;
    if (text)
        text[got > 0 ? got : 0] = '\0';
    return text;
}

static enum mgb_status element_take(char **out, const char *text, const char *prefix)
{
    const char *element = text ? strstr(text, "<svg") : NULL;
    size_t size;
    FILE *stream = element ? open_memstream(out, &size) : NULL;
    if (!stream)
        return mgb_fail(MGB_IO, "gnuplot made no SVG picture, or memory is exhausted");
    element_copy(element, prefix, stream);
    return fclose(stream) == 0 ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "drawing: memory is exhausted");
}

enum mgb_status mgb_picture_inline(char **out, const struct mgb_picture *picture,
                                   const char *prefix)
{
    *out = NULL;
    int file = memfd_create("mgbench-picture", MFD_CLOEXEC);
    if (file < 0)
        return mgb_fail(MGB_IO, "drawing a picture: no file for it: %s", strerror(errno));
    enum mgb_status status = picture_draw(picture, MGB_PICTURE_SVG, NULL, file);
    char *text = status == MGB_OK ? file_read(file) : NULL;
    if (status == MGB_OK)
        status = element_take(out, text, prefix);
    free(text);
    close(file);
    return status;
}
