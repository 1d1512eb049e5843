/* cmocka with assertions that show the engine's own message. Include this instead of cmocka.h. */
#ifndef MGB_TESTS_CHECK_H
#define MGB_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mgb/status.h>

/* The call must return this status; on another one the test fails and shows the message left behind. */
#define assert_status(expr, wanted) mgb_check_status((expr), (wanted), #expr, __FILE__, __LINE__)
#define assert_ok(expr) assert_status(expr, MGB_OK)
/* The thread's last message must contain the words. */
#define assert_message(words) mgb_check_message((words), __FILE__, __LINE__)

void mgb_check_status(enum mgb_status got, enum mgb_status wanted, const char *expr,
                      const char *file, int line);
void mgb_check_message(const char *words, const char *file, int line);

#endif
