/* See pressed.h. */
#include "app/session/workbench/pressed.h"

#include <stddef.h>

const struct mgb_pressed_row *mgb_pressed_find(const struct mgb_pressed *pressed,
                                               enum mgb_option_id option, int direction)
{
    for (int i = 0; pressed && i < pressed->count; i++)
        if (pressed->rows[i].option == option && pressed->rows[i].direction == direction)
            return &pressed->rows[i];
    return NULL;
}
