/* See likeness.h. A line is cut at blanks and at the lines drawn through the screen. Numbers differ in width, so a word may
 * stand elsewhere by just that: it must begin or end in the same column, or be as far from its neighbour. */
#include "tests/screens/likeness.h"

#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 120, LINE_BYTES = 1000 };

struct word {
    char text[200]; /* numbers as '#', a line as one character of it */
    int begin, end; /* columns */
};

struct line {
    struct word words[MOST_WORDS];
    int count;
};

static size_t character_bytes(const char *text)
{
    size_t size = *text ? 1 : 0;
    while (((unsigned char)text[size] & 0xc0) == 0x80)
        size++;
    return size;
}

static bool is_drawn(const char *text)
{
    return strncmp(text, "│", 3) == 0 || strncmp(text, "─", 3) == 0 || strncmp(text, "·", 2) == 0 ||
           strncmp(text, "┬", 3) == 0;
}

/* Bytes of a number with sign, fraction and what stands at once behind it ("1.74", "105.9k", "-24B", "+30%*",
 * "1.11..1.23"); one dash is a number that is not known. 0: none. */
static size_t number_bytes(const char *text, bool first)
{
    size_t at = first ? strspn(text, "+-~") : 0;
    if (first && strcmp(text, "-") == 0)
        return 1;
    static const char cut[] = "\u2026"; /* behind a number that its column had no room for */
    size_t digits = strspn(text + at, "0123456789.");
    bool is_cut = strncmp(text + at + digits, cut, sizeof cut - 1) == 0;
    if (digits == 0 || !(is_cut || isdigit((unsigned char)text[at + digits - 1])))
        return 0;
    at += digits + (is_cut ? sizeof cut - 1 : 0);
    if ((text[at] == 'k' || text[at] == 'M') && !isalpha((unsigned char)text[at + 1]))
        at++;
    return at + strspn(text + at, "%*");
}

/* The numbers of a word as '#'. */
static void word_mask(char *out, size_t size, const char *word)
{
    size_t used = 0;
    for (const char *at = word; *at && used + 8 < size;) {
        bool inside = at > word && (isalpha((unsigned char)at[-1]) || at[-1] == '_');
        size_t number =
            inside ? 0 : number_bytes(at, at == word || !isalnum((unsigned char)at[-1]));
        size_t bytes = number ? 1 : character_bytes(at);
        memcpy(out + used, number ? "#" : at, bytes);
        used += bytes;
        at += number ? number : bytes;
    }
    out[used] = '\0';
}

/* Takes the word at `text`: a run of one drawn character, or what is between blanks. */
static const char *word_take(struct word *word, const char *text, int column)
{
    char raw[200];
    size_t used = 0, bytes = character_bytes(text);
    bool drawn = is_drawn(text);
    const char *first = text;
    word->begin = word->end = column;
    while (*text && *text != ' ' && used + bytes < sizeof raw - 1 &&
           (drawn ? strncmp(text, first, bytes) == 0 : !is_drawn(text))) {
        size_t size = character_bytes(text);
        if (!drawn || text == first) {
            memcpy(raw + used, text, size);
            used += size;
        }
        text += size;
        word->end++;
    }
    raw[used] = '\0';
    word_mask(word->text, sizeof word->text, raw);
    return text;
}

static void line_cut(struct line *out, const char *text)
{
    int column = 0;
    out->count = 0;
    while (*text && out->count < MOST_WORDS) {
        size_t blanks = strspn(text, " ");
        text += blanks;
        column += (int)blanks;
        if (!*text)
            break;
        struct word *word = &out->words[out->count++];
        text = word_take(word, text, column);
        column = word->end;
    }
}

static int gap_before(const struct line *line, int word)
{
    return line->words[word].begin - (word > 0 ? line->words[word - 1].end : 0);
}

static int gap_behind(const struct line *line, int word)
{
    return word + 1 < line->count ? line->words[word + 1].begin - line->words[word].end : -1;
}

static bool is_in_place(const struct line *a, const struct line *b, int word)
{
    const struct word *left = &a->words[word], *right = &b->words[word];
    int behind = gap_behind(a, word);
    return left->begin == right->begin || left->end == right->end ||
           gap_before(a, word) == gap_before(b, word) ||
           (behind >= 0 && behind == gap_behind(b, word));
}

/* The word that differs; -1: none. */
static int line_differs(const struct line *a, const struct line *b)
{
    for (int i = 0; i < a->count || i < b->count; i++)
        if (i >= a->count || i >= b->count || strcmp(a->words[i].text, b->words[i].text) != 0 ||
            !is_in_place(a, b, i))
            return i;
    return -1;
}

/* One mask, at its first match; the result is in `line`. */
static void mask_apply(char line[LINE_BYTES], const struct likeness_mask *mask)
{
    regex_t regex;
    regmatch_t at[2];
    char out[3 * LINE_BYTES];
    size_t used = 0;
    if (regcomp(&regex, mask->regex, REG_EXTENDED) != 0)
        abort();
    bool found = regexec(&regex, line, 2, at, 0) == 0;
    regfree(&regex);
    if (!found)
        return;
    used = (size_t)snprintf(out, sizeof out, "%.*s", (int)at[0].rm_so, line);
    for (const char *c = mask->put; *c; c++) {
        if (c[0] == '\\' && c[1] == '1') {
            used += (size_t)snprintf(out + used, sizeof out - used, "%.*s",
                                     (int)(at[1].rm_eo - at[1].rm_so), line + at[1].rm_so);
            c++;
        } else {
            out[used++] = *c;
        }
    }
    snprintf(out + used, sizeof out - used, "%s", line + at[0].rm_eo);
    snprintf(line, LINE_BYTES, "%.*s", LINE_BYTES - 1, out);
}

static const char *line_take(char line[LINE_BYTES], const char *text,
                             const struct likeness_mask *masks)
{
    size_t length = strcspn(text, "\n");
    snprintf(line, LINE_BYTES, "%.*s", (int)length, text);
    for (; masks && masks->regex; masks++)
        mask_apply(line, masks);
    return text + length + (text[length] == '\n');
}

const char *likeness_differs(const char *screen, const char *picture,
                             const struct likeness_mask *masks)
{
    static char told[3 * LINE_BYTES];
    static struct line cut[2];
    for (int number = 1; *screen || *picture; number++) {
        char seen[LINE_BYTES], wanted[LINE_BYTES];
        bool missing = !*screen || !*picture;
        screen = line_take(seen, screen, masks);
        picture = line_take(wanted, picture, masks);
        line_cut(&cut[0], seen);
        line_cut(&cut[1], wanted);
        int word = line_differs(&cut[0], &cut[1]);
        if (word < 0 && !missing)
            continue;
        snprintf(told, sizeof told, "line %d, word %d: on the screen\n%s\nin the picture\n%s\n",
                 number, word + 1, seen, wanted);
        return told;
    }
    return NULL;
}
