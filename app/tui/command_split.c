/* Words as a shell takes them. See command.h. */
#include "app/tui/command.h"

#include <string.h>

struct splitting {
    char *put, *end; /* where the next byte goes; the end of the buffer */
    const char *at;
};

static bool byte_put(struct splitting *s, char byte)
{
    if (s->put == s->end)
        return false;
    *s->put++ = byte;
    return true;
}

/* Up to the closing quote, which is passed; only "..." knows backslashes. */
static bool quoted_take(struct splitting *s)
{
    char quote = *s->at++;
    for (; *s->at && *s->at != quote; s->at++) {
        if (quote == '"' && *s->at == '\\' && s->at[1] && strchr("\"\\$`", s->at[1]))
            s->at++;
        if (!byte_put(s, *s->at))
            return false;
    }
    return *s->at && s->at++;
}

static bool word_take(struct splitting *s)
{
    while (*s->at && !strchr(" \t", *s->at)) {
        bool good;
        if (*s->at == '\'' || *s->at == '"') {
            good = quoted_take(s);
        } else {
            if (*s->at == '\\' && s->at[1])
                s->at++;
            good = byte_put(s, *s->at++);
        }
        if (!good)
            return false;
    }
    return byte_put(s, '\0');
}

int tui_command_split(char *buffer, size_t size, char **out, int most, const char *line)
{
    struct splitting s = {buffer, buffer + size, line};
    int count = 0;
    for (;;) {
        s.at += strspn(s.at, " \t");
        if (!*s.at)
            return count;
        if (count == most)
            return -1;
        out[count++] = s.put;
        if (!word_take(&s))
            return -1;
    }
}
