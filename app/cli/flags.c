/* Which entry of the lists of flags a word means, and which one was probably meant. See flags.h. */
#include "app/cli/flags.h"
#include "app/cli/manual.h"
#include <mgb/text.h>
#include <stdio.h>
#include <string.h>

const struct mgb_flag *mgb_flag_find(const struct mgb_flag *flags, const char *name, size_t length)
{
    for (; flags && flags->name; flags++)
        if (strncmp(flags->name, name, length) == 0 && flags->name[length] == 0)
            return flags;
    return NULL;
}

static const struct mgb_flag *more_flags(const struct mgb_command *command)
{
    return command && command->more_flags ? command->more_flags() : NULL;
}

const struct mgb_flag *mgb_flag_find_own(const struct mgb_command *command, const char *name,
                                         size_t length, bool *negated)
{
    static const char no[] = "--no-";
    const struct mgb_flag *lists[] = {command ? command->flags : NULL, more_flags(command)};
    *negated = false;
    for (int i = 0; i < 2; i++) {
        const struct mgb_flag *flag = mgb_flag_find(lists[i], name, length);
        if (flag)
            return flag;
    }
    char positive[64];
    if (strncmp(name, no, sizeof no - 1) != 0 || length >= sizeof positive)
        return NULL;
    snprintf(positive, sizeof positive, "--%.*s", (int)(length - (sizeof no - 1)),
             name + sizeof no - 1);
    *negated = true;
    for (int i = 0; i < 2; i++) {
        const struct mgb_flag *flag = mgb_flag_find(lists[i], positive, strlen(positive));
        if (flag && flag->optional)
            return flag;
    }
    return NULL;
}

const char *mgb_flag_nearest(const struct mgb_invocation *in, const char *name)
{
    const struct mgb_command *command = in->command;
    const char *names[128];
    int count = 0;
    const struct mgb_flag *lists[] = {in->manual->flags, command ? command->flags : NULL,
                                      more_flags(command)};
    for (int i = 0; i < 3; i++)
        for (const struct mgb_flag *f = lists[i]; f && f->name && count < 128; f++)
            names[count++] = f->name;
    return mgb_nearest_name(name, names, count);
}
