/* The assertions of check.h. */
#include "tests/support/check.h"

#include <string.h>

void mgb_check_status(enum mgb_status got, enum mgb_status wanted, const char *expr,
                      const char *file, int line)
{
    if (got == wanted)
        return;
    print_error("%s\n  returned %s instead of %s: %s\n", expr, mgb_status_name(got),
                mgb_status_name(wanted), got == MGB_OK ? "" : mgb_message_get());
    _fail(file, line);
}

void mgb_check_message(const char *words, const char *file, int line)
{
    if (strstr(mgb_message_get(), words))
        return;
    print_error("the message lacks \"%s\": %s\n", words, mgb_message_get());
    _fail(file, line);
}
