/* The menu of models. The workbench has the list: nothing is read from a disk here. */
#include "app/tui/screen_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MODELS = 200 };

static void model_answer(void *context, struct tui_desk *desk, const char *text)
{
    (void)context;
    if (text && *text)
        desk->ask(desk, &(struct mgb_wish){.kind = MGB_WISH_MODEL, .text = text});
}

static void model_chosen(void *context, struct tui_desk *desk, const char *text)
{
    if (text && *text == '\0')
        desk->prompt(desk, "model, or a file, and options: ", "", model_answer, context);
    else
        model_answer(context, desk, text);
}

/* `chosen`: the label to take in hand. */
static void models_show(struct tui_screen *screen, const char *chosen)
{
    struct tui_choice *choices = calloc(MOST_MODELS + 1, sizeof *choices);
    int count = 0, at = 0;
    if (!choices) {
        screen_say(screen, MGB_LINE_FAULT, "no memory for a menu");
        return;
    }
    for (const char *name = screen->models; name && *name && count < MOST_MODELS;) {
        size_t length = strcspn(name, "\n");
        struct tui_choice *choice = &choices[count];
        snprintf(choice->label, sizeof choice->label, "%.*s", (int)length, name);
        snprintf(choice->value, sizeof choice->value, "%.*s", (int)length, name);
        if (strcmp(choice->label, chosen) == 0)
            at = count;
        count++;
        name += length + (name[length] == '\n');
    }
    strcpy(choices[count].label, "other...");
    strcpy(choices[count++].note, "a file, or a name with options, as resnet depth=50");
    screen->desk.menu(&screen->desk, "MODEL", choices, count, at, model_chosen, NULL);
    free(choices);
}

void screen_models_choose(struct tui_screen *screen)
{
    const struct mgb_facts *facts = screen->snapshot->facts;
    struct mgb_workbench *workbench = screen->options.workbench;
    free(screen->models);
    screen->models = workbench ? mgb_workbench_models(workbench, true) : NULL;
    models_show(screen, facts ? facts->model : "");
}

/* Not under the hands of who narrows it down. */
bool screen_models_follow(struct tui_screen *screen)
{
    const struct tui_menu *menu = &screen->menu;
    if (!menu->open || menu->answer != model_chosen || *menu->filter)
        return false;
    char *fresh = mgb_workbench_models(screen->options.workbench, false);
    if (!fresh || (screen->models && strcmp(screen->models, fresh) == 0)) {
        free(fresh);
        return false;
    }
    char chosen[sizeof menu->choices->label] = "";
    if (menu->list.at >= 0 && menu->list.at < menu->count)
        snprintf(chosen, sizeof chosen, "%s", menu->choices[menu->list.at].label);
    free(screen->models);
    screen->models = fresh;
    models_show(screen, chosen);
    return true;
}
