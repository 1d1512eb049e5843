/* Names and notes of people; see mgb/name.h. */
#include <mgb/name.h>
#include <mgb/text.h>
#include <string.h>

/* The first byte that is no character that can be shown nor one of `also`; NULL: none. */
static const char *fault_find(const char *text, const char *also)
{
    uint32_t point;
    for (size_t left = strlen(text), length; left > 0; text += length, left -= length) {
        length = mgb_character_read(&point, text, left);
        if (length == 0 || (!mgb_character_is_shown(point) && !strchr(also, *text)))
            return text;
    }
    return NULL;
}

enum mgb_status mgb_name_check(const char *what, const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || strchr(name, ',') || strchr(" \t", name[0]) ||
        strchr(" \t", name[length - 1]))
        return mgb_fail(
            MGB_INVALID,
            "%s: a name without commas and without blanks at its ends expected, got '%.100s'", what,
            name);
    if (fault_find(name, ""))
        return mgb_fail(MGB_INVALID,
                        "%s: a name of characters that can be shown expected, got '%.100s'", what,
                        name);
    if (length > MGB_NAME_BYTES)
        return mgb_fail(MGB_INVALID, "%s: a name of at most %d bytes expected, got %zu: '%.40s...'",
                        what, MGB_NAME_BYTES, length, name);
    return MGB_OK;
}

enum mgb_status mgb_note_check(const char *what, const char *text)
{
    size_t length = strlen(text);
    const char *fault = fault_find(text, "\n\t");
    if (!text[strspn(text, " \t\n")])
        return mgb_fail(MGB_INVALID, "%s: the text is empty", what);
    if (length > MGB_NOTE_BYTES)
        return mgb_fail(MGB_INVALID, "%s: a text of at most %d bytes expected, got %zu", what,
                        MGB_NOTE_BYTES, length);
    if (fault)
        return mgb_fail(MGB_INVALID,
                        "%s: a text of characters that can be shown expected; byte %zu is 0x%02x",
                        what, (size_t)(fault - text) + 1, (unsigned char)*fault);
    return MGB_OK;
}
