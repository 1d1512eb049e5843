/* A menu over the body: choices to walk, filtered by typing, chosen by Enter. */
#ifndef APP_TUI_MENU_H
#define APP_TUI_MENU_H

#include "app/tui/desk.h"
#include "app/tui/list.h"

struct tui_menu {
    bool open;
    char title[80], filter[80];
    struct tui_choice *choices; /* owned */
    int count;
    struct tui_list list; /* of those that pass the filter */
    tui_answer *answer;
    void *context;
};

bool tui_menu_open(struct tui_menu *menu, const char *title, const struct tui_choice *choices,
                   int count, int chosen, tui_answer *answer, void *context);
/* True: the menu is closed; *chosen is the value, borrowed until it is opened again; NULL: given up. */
bool tui_menu_key(struct tui_menu *menu, int key, const char **chosen);
void tui_menu_draw(struct tui_menu *menu, struct tui_canvas *canvas, struct tui_rect body);
void tui_menu_done(struct tui_menu *menu);

#endif
