/* See fold.h. Two blanks or more are a gap between columns. A line is of a table when it stands above or below one that has
 * a column at the same place; a label with a sentence after it is none, and goes on below the sentence. */
#include "app/tui/fold.h"
#include "app/tui/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GAPS = 48, MOST_LABEL = 28, LEAST_WIDTH = 20 };

/* Where the columns of a line begin and end, in characters. */
struct gaps {
    int begins[MOST_GAPS], ends[MOST_GAPS], count; /* each gap's end and begin, in turn */
    int lead, length;
};

static struct gaps gaps_find(const char *line)
{
    struct gaps out = {.lead = (int)strspn(line, " ")};
    int column = out.lead;
    for (const char *at = line + out.lead; *at;) {
        size_t blanks = strspn(at, " ");
        if (blanks == 0) {
            at += tui_utf8_after(at, 0);
            column++;
            continue;
        }
        if (blanks > 1 && at[blanks] && out.count < MOST_GAPS) {
            out.ends[out.count] = column;
            out.begins[out.count++] = column + (int)blanks;
        }
        at += blanks;
        column += (int)blanks;
    }
    out.length = column;
    return out;
}

/* Where a line goes on: under its last column of words, under a sentence's begin, or a little to the right. */
static int hang_find(const char *line, const struct gaps *gaps, int width)
{
    int hang = -1;
    for (int i = 0; i < gaps->count; i++)
        if (gaps->begins[i] <= MOST_LABEL && gaps->begins[i] <= width / 2)
            hang = gaps->begins[i];
    if (hang >= 0)
        return hang;
    hang = gaps->lead + (isupper((unsigned char)line[gaps->lead]) ? 0 : 2);
    return hang <= width / 2 ? hang : 0;
}

/* A column beyond `hang` that begins or ends where one of the other line does. */
static bool is_aligned(const struct gaps *gaps, int hang, const char *other)
{
    struct gaps with = gaps_find(other);
    for (int i = 0; i < gaps->count; i++)
        for (int k = 0; k < with.count && gaps->begins[i] > hang; k++)
            if (gaps->begins[i] == with.begins[k] || (k > 0 && gaps->ends[i] == with.ends[k]))
                return true;
    return false;
}

/* Most of it letters: neither a chart nor a rule, whose characters are U+2500 to U+28FF. */
static bool is_words(const char *line)
{
    int letters = 0, others = 0;
    for (size_t at = 0; line[at]; at = tui_utf8_after(line, at)) {
        unsigned char first = (unsigned char)line[at], second = (unsigned char)line[at + 1];
        bool drawn = first == 0xe2 && second >= 0x94 && second <= 0xa3;
        bool letter = isalnum(first) || (first >= 0x80 && !drawn);
        letters += letter;
        others += !letter && first != ' ';
    }
    return letters > others;
}

static bool is_prose(char *const *lines, int count, int at, const struct gaps *gaps, int hang)
{
    return is_words(lines[at]) && !(at > 0 && is_aligned(gaps, hang, lines[at - 1])) &&
           !(at + 1 < count && is_aligned(gaps, hang, lines[at + 1]));
}

/* Bytes of `text` that take at most `room` columns. */
static size_t text_fit(const struct tui_canvas *canvas, const char *text, int room)
{
    size_t fits = 0;
    for (size_t next; text[fits]; fits = next) {
        char one[8];
        next = tui_utf8_after(text, fits);
        size_t size = next - fits < sizeof one ? next - fits : sizeof one - 1;
        memcpy(one, text + fits, size);
        one[size] = '\0';
        room -= tui_text_width(canvas, one);
        if (room < 0)
            break;
    }
    return fits;
}

/* Bytes before the break: at a gap in the second half, else at a blank; a longer word sticks out. */
static size_t break_find(const struct tui_canvas *canvas, const char *text, int room)
{
    size_t fits = text_fit(canvas, text, room), blank = 0, gap = 0;
    if (!text[fits])
        return fits;
    for (size_t i = strspn(text, " ") + 1; i <= fits; i++)
        if (text[i] == ' ' && text[i - 1] != ' ') {
            blank = i;
            gap = text[i + 1] == ' ' ? i : gap;
        }
    if (gap > fits / 2)
        return gap;
    return blank > 0 ? blank : fits + strcspn(text + fits, " ");
}

struct folder {
    struct tui_fold *fold;
    int room; /* pieces that there is memory for */
};

static bool piece_add(struct folder *folder, struct tui_piece piece)
{
    struct tui_fold *fold = folder->fold;
    if (fold->count == folder->room) {
        int room = 2 * folder->room + 64;
        struct tui_piece *grown = realloc(fold->pieces, (size_t)room * sizeof *grown);
        if (!grown)
            return false;
        fold->pieces = grown;
        folder->room = room;
    }
    fold->pieces[fold->count++] = piece;
    return true;
}

static bool line_fold(struct folder *folder, const struct tui_canvas *canvas, const char *text,
                      int line, int hang, int width)
{
    int indent = 0;
    do {
        size_t length = break_find(canvas, text, width - indent);
        struct tui_piece piece = {text, (int)length, indent, line};
        if (!piece_add(folder, piece))
            return false;
        text += length;
        text += strspn(text, " ");
        indent = hang;
    } while (*text);
    return true;
}

bool tui_fold_make(struct tui_fold *out, const struct tui_canvas *canvas, char *const *lines,
                   int count, int width)
{
    struct folder folder = {.fold = out};
    bool good = true;
    tui_fold_done(out);
    width = width < LEAST_WIDTH ? LEAST_WIDTH : width;
    for (int i = 0; i < count && good; i++) {
        struct tui_piece whole = {lines[i], (int)strlen(lines[i]), 0, i};
        struct gaps gaps = {.count = 0};
        int hang = 0;
        bool wide = tui_text_width(canvas, lines[i]) > width;
        if (wide) {
            gaps = gaps_find(lines[i]);
            hang = hang_find(lines[i], &gaps, width);
        }
        good = wide && is_prose(lines, count, i, &gaps, hang)
                   ? line_fold(&folder, canvas, lines[i], i, hang, width)
                   : piece_add(&folder, whole);
    }
    if (!good)
        tui_fold_done(out);
    return good;
}

void tui_fold_done(struct tui_fold *fold)
{
    free(fold->pieces);
    *fold = (struct tui_fold){.pieces = NULL};
}
