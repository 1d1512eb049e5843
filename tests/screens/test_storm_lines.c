/* Lines after ':' that nobody would type, and what is pasted by mistake, while the program steps: verbs, Lua that breaks
 * things, garbage, bytes that are no text. It lives, answers and loses no row. */
#include "tests/screens/storm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const verbs[] = {
    "runs",
    "show last",
    "show 99999",
    "compare 1 2",
    "compare 1.1 1.2",
    "explain 1.1",
    "models",
    "devices",
    "plan mlp",
    "query 'select count(*) from step'",
    "query select",
    "tag last x",
    "note last 'y z'",
    "info",
    "export steps --run 1",
    "trace 1",
    "runs --where '",
    "compare",
    "baseline list",
    "scaling",
    "rm",
    "vacuum",
    "show --json last",
    "set batch=16",
    "set batch=0",
    "batch=8",
    "batch=12 gpus=1",
    "gpus=2",
    "gpus=99",
    "weights_at=/cpu:0",
    "weights_at=/gpu:9",
    "strategy=gradients",
    "strategy=none",
    "threads=2",
    "precision=f16",
    "global_batch=24",
    "model nope",
    "model mlp hidden=16",
    "model mlp hidden=x",
    "data nope",
    "data random",
    "backend cuda",
    "backend host",
    "machine /nowhere",
    "undo",
    "verify",
    "trace",
    "run",
    "weights",
    "merge",
    "end",
    "record x/y/z.lua",
    "record s.lua",
    "sweep {",
    "sweep {}",
    "sweep { gpus = { 1, 2 }, steps = 3 }",
    "stop",
    "bench",
    "log",
    "help",
    "options",
    "filter",
    "save-layout",
    "devices --json",
    "check mlp",
    "",
    "   ",
    "::::",
    "\\",
    "'",
    "\"",
    "=",
    "= ",
};

static const char *const snippets[] = {
    "1 + 1",
    "=s",
    "= s.loss",
    "s:step(3)",
    "for i = 1, 5 do s:step(1) end",
    "s:set{ batch = 16 }",
    "s:set{ nothing = 1 }",
    "error('x')",
    "error{}",
    "error()",
    "x =",
    "return",
    "local",
    "goto nowhere",
    "print(('a'):rep(100000))",
    "print(('ab\\n'):rep(20000))",
    "print('\\27[2J\\27[31mred\\0\\255')",
    "io.write('no newline')",
    "error(setmetatable({}, { __tostring = function() error('y') end }))",
    "setmetatable(_G, { __index = function() error('z') end })",
    "setmetatable(_G, nil)",
    "local function f() return f() + 1 end f()",
    "string.rep('x', 1 << 40)",
    "('x'):bad()",
    "t = {} t[1] = t print(t)",
    "for i = 1, 3e6 do end",
    "collectgarbage()",
    "coroutine.wrap(function() s:step(1) end)()",
    "coroutine.yield()",
    "os.exit(3)",
    "os.exit(true, true)",
    "print(#mgb.results.runs())",
    "s:close()",
    "s:step(-1)",
    "s:step(1e18)",
    "s:step('many')",
    "mgb.session{}",
    "mgb.session(nil)",
    "s = mgb.session{ model = 'mlp', steps = 2 }",
    "s = 5",
    "s = nil",
    "print = nil",
    "mgb = nil",
    "string = nil",
    "table = nil",
    "_G = nil",
    "_ENV = nil",
    "debug.sethook()",
    "require 'nothing'",
    "load('x =')",
    "dofile('/dev/null')",
    "=nil, false, 0/0, -1/0, 1 << 63",
};

static const char *const pieces[] = {
    "\033[31m",
    "\033[?1049l",
    "\033]0;title\007",
    "\033P1$r\033\\",
    "\033[",
    "\033O",
    "\033[<0;5;5M",
    "\033[<64;1;1M",
    "\033[999;999H",
    "\033[1;5A",
    "\033[200~",
    "\033[201~",
    "\033\033",
    "\xc3",
    "\xe2\x82",
    "\xf0\x9f\x98\x80",
    "\xed\xa0\x80",
    "\xc0\x80",
    "\xff\xfe",
    "\xf8\x88\x80\x80\x80",
    "e\xcc\x81",
    "\xe4\xb8\xad\xe6\x96\x87",
    "\xe2\x80\xae",
    ("\xc2\x9b"
     "31m"),
    "\001",
    "\005",
    "\025",
    "\027",
    "\013",
    "\t",
    "\t\t",
    "\177",
    "\010",
    "\016",
    "\034",
    "\021",
    "\023",
    "%s%n",
    "$(x)",
    "`x`",
    "../..",
};

#define PICK(storm, list) (list)[storm_draw((storm), sizeof(list) / sizeof *(list))]

static void characters_type(struct storm *storm, int count)
{
    for (int i = 0; i < count; i++)
        terminal_type(storm->terminal, (char[]){(char)(' ' + storm_draw(storm, 95)), '\0'});
}

/* Neither an end, nor a stop, nor an answer to whether something is to be deleted. */
static void bytes_paste(struct storm *storm, int count)
{
    for (int i = 0; i < count; i++) {
        char byte = (char)(1 + storm_draw(storm, 255));
        if (!strchr("qyY\003\032", byte))
            terminal_type(storm->terminal, (char[]){byte, '\0'});
    }
}

static void long_type(struct storm *storm, const char *what)
{
    for (int i = 0; i < 5000; i += (int)strlen(what))
        terminal_type(storm->terminal, what);
}

static void line_type(struct storm *storm)
{
    struct terminal *t = storm->terminal;
    terminal_press(t, ":");
    switch (storm_draw(storm, 12)) {
    case 0:
    case 1:
    case 2:
        terminal_type(t, PICK(storm, verbs));
        break;
    case 3:
    case 4:
    case 5:
    case 6:
        terminal_type(t, PICK(storm, snippets));
        break;
    case 7:
        characters_type(storm, (int)storm_draw(storm, 60));
        break;
    case 8:
    case 9:
        for (uint32_t i = storm_draw(storm, 12); i > 0; i--)
            terminal_type(t, PICK(storm, pieces));
        break;
    case 10:
        long_type(storm, PICK(storm, pieces));
        break;
    default:
        bytes_paste(storm, (int)storm_draw(storm, 400));
    }
    terminal_press(t, "Enter");
}

/* What a line left open, and how long it may take, is not the next line's. */
static void line_end(struct storm *storm)
{
    storm_look(storm, (int)storm_draw(storm, 100));
    if (storm_draw(storm, 3) == 0) {
        terminal_press(storm->terminal, "Esc");
        storm_look(storm, 40);
        storm_look(storm, 40);
    }
    storm_revive(storm);
}

static void lines_at_random(void **state)
{
    struct storm *storm = *state;
    int count = storm_count(60, 600);
    storm_start(storm, 24, 80);
    storm_run(storm);
    for (int i = 0; i < count; i++) {
        line_type(storm);
        line_end(storm);
    }
    storm_calm(storm);
    storm_quit(storm);
}

/* Each of them once, and after it the program still knows what a session is. */
static void every_line_by_itself(void **state)
{
    struct storm *storm = *state;
    struct terminal *t = storm_start(storm, 24, 80);
    storm_run(storm);
    for (size_t i = 0; i < sizeof snippets / sizeof *snippets; i++) {
        terminal_press(t, ":");
        terminal_type(t, snippets[i]);
        terminal_press(t, "Enter");
        storm_look(storm, 20);
    }
    storm_calm(storm);
    terminal_type(t, ":model mlp hidden=16!");
    terminal_press(t, "Enter");
    terminal_await(t, "READY");
    storm_run(storm);
    storm_look(storm, 20);
    storm_quit(storm);
    assert_int_equal(storm->begun, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_line_by_itself, storm_begin, storm_end),
        cmocka_unit_test_setup_teardown(lines_at_random, storm_begin, storm_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
