/* Runs a script text in a state of its own and checks how it ended. */
#ifndef TESTS_APP_SCRIPT_RUN_TEXT_H
#define TESTS_APP_SCRIPT_RUN_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "app/script/state.h"

static inline void script_text_run(const struct script_services *services, const char *text,
                                   const char *message)
{
    struct mgb_script *script;
    struct mgb_script_settings settings = {.services = services};
    assert_int_equal(mgb_script_make(&script, &settings), MGB_OK);
    enum mgb_status status = mgb_script_run_text(script, text);
    if (message)
        assert_string_equal(mgb_script_error_get(script)->message, message);
    else if (status != MGB_OK)
        fail_msg("%s", mgb_script_error_get(script)->text);
    if (message)
        assert_int_not_equal(status, MGB_OK);
    mgb_script_free(script);
}

/* Runs to its end, or fails with exactly this message. */
static inline void passes(const char *text)
{
    script_text_run(NULL, text, NULL);
}

static inline void fails(const char *text, const char *message)
{
    script_text_run(NULL, text, message);
}

#endif
