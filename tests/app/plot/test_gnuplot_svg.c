/* Pictures for browsers carry no names that only gnuplot understands. */
#include "tests/support/check.h"

#include "app/plot/gnuplot_private.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void cleaned(const char *text, const char *wanted)
{
    char got[400] = "";
    int file = memfd_create("picture", MFD_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    assert_ok(mgb_gnuplot_svg_clean(file));
    assert_int_equal(pread(file, got, sizeof got - 1, 0), strlen(wanted));
    assert_string_equal(got, wanted);
    close(file);
}

static void titles_are_taken_out_and_the_rest_stays(void **state)
{
    (void)state;
    cleaned("<svg>\n<title>Gnuplot</title>\n<desc>x</desc>\n"
            "<g id='a' ><title>$bars0_0 using 1:2:3:4:5:6</title>\n<path d='M0,0'/></g>\n"
            "<g><title>two\nlines</title></g>"
            "<text>&lt;title&gt; of people</text></svg>\n",
            "<svg>\n<desc>x</desc>\n<g id='a' >\n<path d='M0,0'/></g>\n<g></g>"
            "<text>&lt;title&gt; of people</text></svg>\n");
    cleaned("<svg/>", "<svg/>");
    cleaned("<svg><title>open", "<svg><title>open");
    cleaned("<title>only</title>", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(titles_are_taken_out_and_the_rest_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
