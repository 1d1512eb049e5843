/* What the help screen tells besides the keys: signs, letters, and the words of the bench. */
#ifndef APP_TUI_HELP_H
#define APP_TUI_HELP_H

struct tui_help_word {
    const char *word, *text; /* text NULL: a heading */
};
extern const struct tui_help_word tui_help_words[];
extern const int tui_help_word_count;

#endif
