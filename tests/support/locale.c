/* Finds or makes a locale with a decimal comma. */
#include "tests/support/locale.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static bool comma_locale_make(void)
{
    char folder[] = "/tmp/mgb-locale-XXXXXX", command[256];
    if (!mkdtemp(folder))
        return false;
    snprintf(command, sizeof command,
             "localedef -c -i de_DE -f UTF-8 %s/de_DE.utf8 >/dev/null 2>&1", folder);
    bool made = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
                setlocale(LC_ALL, "de_DE.UTF-8");
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 && made;
}

bool mgb_test_comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "nl_NL.UTF-8", "ru_RU.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i]))
            return true;
    return comma_locale_make();
}
