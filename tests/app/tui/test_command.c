/* What a line after ':' means, against a desk that writes down what it is asked for; and what completes a line. */
#include "app/tui/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char told[1024];

static void write_down(const char *format, ...)
{
    va_list args;
    size_t used = strlen(told);
    va_start(args, format);
    vsnprintf(told + used, sizeof told - used, format, args);
    va_end(args);
}

static void fake_ask(struct tui_desk *desk, const struct mgb_wish *wish)
{
    (void)desk;
    static const char *const names[] = {
        [MGB_WISH_SET] = "set",       [MGB_WISH_MODEL] = "model",
        [MGB_WISH_DATA] = "data",     [MGB_WISH_BACKEND] = "backend",
        [MGB_WISH_EVAL] = "lua",      [MGB_WISH_MACHINE] = "machine",
        [MGB_WISH_SAVE] = "save",     [MGB_WISH_SWEEP] = "sweep",
        [MGB_WISH_TAG] = "tag",       [MGB_WISH_NOTE] = "note",
        [MGB_WISH_WARMUP] = "warmup", [MGB_WISH_TURNS] = "turns"};
    write_down("%s(%s)", names[wish->kind], wish->text);
    if (wish->run)
        write_down(" of %lld", (long long)wish->run);
}

static void fake_say(struct tui_desk *desk, enum mgb_line_kind kind, const char *text)
{
    (void)desk;
    write_down("%s: %s", kind == MGB_LINE_FAULT ? "fault" : "note", text);
}

static void fake_act(struct tui_desk *desk, enum tui_action action)
{
    (void)desk;
    write_down("act %s", tui_actions[action].name);
}

static const struct tui_verb verbs[] = {{"-e", "SCRIPT [options] [-- words]", "a script"},
                                        {"run", "MODEL [options] [placement options]", "one run"},
                                        {"plan", "MODEL [options] [placement options]", "a plan"},
                                        {"runs", "[options]", "a list"},
                                        {"show", "[RUN]", "a run"},
                                        {"compare", "A B | sweep:NAME", "two runs"},
                                        {"rm", "RUN...", "goes"},
                                        {"tag", "RUN NAME... [--remove]", "labels"},
                                        {"note", "RUN TEXT", "a remark"},
                                        {"baseline", "set NAME RUN | list | rm NAME", "a baseline"},
                                        {NULL, NULL, NULL}};

static void line_in(const struct tui_command_table *table, const char *line, const char *wanted)
{
    struct tui_desk desk = {.ask = fake_ask, .say = fake_say, .act = fake_act};
    told[0] = '\0';
    tui_command_run(table, &desk, line);
    if (strcmp(told, wanted) != 0)
        fail_msg("':%s' gave\n    %s\nnot\n    %s", line, told, wanted);
}

static void line_gives(const char *line, const char *wanted)
{
    static const struct tui_command_table table = {.verbs = verbs};
    line_in(&table, line, wanted);
}

static const char no_jobs[] = "fault: commands of mgbench cannot be run here";

static void an_action_is_called_by_its_name(void **state)
{
    (void)state;
    line_gives("weights", "act weights");
    line_gives("  :undo ", "act undo");
    line_gives("quit", "act quit");
    line_gives("q", "act quit");
    line_gives("gpus+", "act gpus+");
    line_gives("runs", "act runs");
    line_gives("plan", "act plan");
    line_gives("save-layout", "act save-layout");
    line_gives("", "");
    line_gives("   ", "");
}

static void settings_of_the_bench_are_wishes(void **state)
{
    (void)state;
    line_gives("set batch=64 gpus=2", "set(batch=64 gpus=2)");
    line_gives("batch=64 gpus=2", "set(batch=64 gpus=2)");
    line_gives("set warmup=auto", "warmup(auto)");
    line_gives("warmup=5", "warmup(5)");
    line_gives("warmup 5", "warmup(5)");
    line_gives("set warmup=auto!", "warmup(auto!)");
    line_gives("turns 8", "turns(8)");
    line_gives("turns", "act turns");
    line_gives("weights-at=/cpu:0", "set(weights-at=/cpu:0)");
    line_gives("model resnet depth=50", "model(resnet depth=50)");
    line_gives("model", "act models");
    line_gives("data mnist", "data(mnist)");
    line_gives("backend host", "backend(host)");
    line_gives("machine", "fault: machine: a machine file is missing");
    line_gives("machine a.lua", "machine(a.lua)");
    line_gives("record a.lua", "save(a.lua)");
    line_gives("record", "act record");
    line_gives("sweep { batch = {32, 64} }", "sweep({ batch = {32, 64} })");
    line_gives("sweep", "act sweep");
}

static void warmup_says_what_it_takes(void **state)
{
    (void)state;
    static const char expected[] =
        "fault: warmup: a number of steps from 0, or auto, expected, got";
    char wanted[160];
    static const char *const lines[][2] = {
        {"set warmup=-3", "-3"}, {"warmup=-3", "-3"}, {"warmup some", "some"}, {"warmup 5x", "5x"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(wanted, sizeof wanted, "%s '%s'", expected, lines[i][1]);
        line_gives(lines[i][0], wanted);
    }
    line_gives("set batch=64 warmup=5",
               "fault: warmup begins a new run: set it on a line of its own");
    line_gives("set warmup=5 batch=64",
               "fault: warmup begins a new run: set it on a line of its own");
}

static void tags_and_notes_are_wishes_while_a_run_is_recorded(void **state)
{
    (void)state;
    static const struct tui_command_table table = {.verbs = verbs, .recording = true, .run = 28};
    static const char refused[] = "fault: a run is being recorded: end it first (x on the bench)";
    line_in(&table, "tag 27 x", "tag(x) of 27");
    line_in(&table, "tag 27.2 x y", "tag(x) of 27tag(y) of 27");
    line_in(&table, "tag last x", "tag(x) of 28");
    line_in(&table, "tag 27 x a,b", "fault: no tag was stored: there is a comma in 'a,b'");
    line_in(&table, "tag good", "tag(good) of 28");
    line_in(&table, "tag 27 x --remove", refused);
    line_in(&table, "note hello world", "note(hello world) of 28");
    line_in(&table, "note it's hot", "note(it's hot) of 28");
    line_in(&table, "note 27 'hello world'", "note(hello world) of 27");
    line_in(&table, "note 27 hello 'big' world", "note(hello 'big' world) of 27");
    line_in(&table, "note 27", "fault: note: a text is missing");
    line_in(&table, "note tag:x hot",
            "fault: tag:x: a run is being recorded: end it first (x on the bench), or name one run "
            "by its number");
    line_in(&table, "baseline set x 27", refused);
    line_in(&table, "baseline rm x", refused);
    line_in(&table, "baseline list", no_jobs);
    line_in(&table, "rm 27", refused);
    line_in(&table, "run mlp --steps 5", refused);
    line_in(&table, "run --help", no_jobs);
    line_in(&table, "show 27", no_jobs);
}

static void a_text_that_names_no_run_is_of_the_run_on_the_bench(void **state)
{
    (void)state;
    line_gives("note hello world",
               "fault: 'hello' is no run, and none is recorded on the bench: name one first");
    line_gives("tag good better",
               "fault: 'good' is no run, and none is recorded on the bench: name one first");
    line_gives("note 27 hello world", no_jobs);
    line_gives("tag last good", no_jobs);
    line_gives("tag last good --remove", no_jobs);
}

static void verbs_go_to_mgbench(void **state)
{
    (void)state;
    line_gives("compare 12 13", no_jobs);
    line_gives("show last", no_jobs);
    line_gives("run mlp --steps 5", no_jobs);
    line_gives("-e script.lua", no_jobs);
    line_gives("show 'last", "fault: a quote is not closed, or there are too many words");
    static const struct tui_command_table looking = {.verbs = verbs, .readonly = true};
    line_in(&looking, "compare 12 13", no_jobs);
    line_in(&looking, "baseline list", no_jobs);
    line_in(&looking, "rm 3", "fault: rm: this is for looking only (--readonly)");
    line_in(&looking, "run mlp", "fault: run: this is for looking only (--readonly)");
    line_in(&looking, "baseline set a 3", "fault: baseline: this is for looking only (--readonly)");
}

static void everything_else_is_lua(void **state)
{
    (void)state;
    line_gives("s:step(5)", "lua(s:step(5))");
    line_gives("s", "lua(s)");
    line_gives("1 + 2", "lua(1 + 2)");
    line_gives("return s", "lua(return s)");
    line_gives("local x = 3", "lua(local x = 3)");
    line_gives("for i = 1, 3 do s:step() end", "lua(for i = 1, 3 do s:step() end)");
    line_gives("print 'x'", "lua(print 'x')");
    line_gives("loss and 1", "lua(loss and 1)");
    line_gives("plan = 3", "lua(plan = 3)");
    line_gives("model = 3", "lua(model = 3)");
    line_gives("x=3", "lua(x=3)");
    line_gives("batch==3", "lua(batch==3)");
    line_gives("=undoo", "lua(undoo)");
    line_gives("= runs", "lua( runs)");
}

static void a_slip_is_told_with_what_was_meant(void **state)
{
    (void)state;
    line_gives("delete 5",
               "fault: 'delete' takes no words: it is the key d of the Runs screen (5), "
               "for what is in hand there");
    line_gives("undo all", "fault: 'undo' takes no words: it is the key u of the Bench screen (1), "
                           "for what is in hand there");
    line_gives("quit now", "fault: 'quit' takes no words: it is the key q");
    line_gives("comparr 12 13", "fault: unknown command 'comparr' (did you mean 'compare'?); Lua "
                                "begins with '='");
    line_gives("weigths", "fault: unknown command 'weigths' (did you mean 'weights'?); Lua begins "
                          "with '='");
    line_gives("modle mlp", "fault: unknown command 'modle' (did you mean 'model'?); Lua begins "
                            "with '='");
    line_gives("xyzzyplugh it now",
               "fault: unknown command 'xyzzyplugh'; ? lists them, and Lua may begin "
               "with '='");
    line_gives("frobnicate", "lua(frobnicate)");
    line_gives("lag", "lua(lag)");
    char line[TUI_COMMAND_BYTES + 2];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    line_gives(line, "fault: the line is too long");
}

static void words_are_those_of_a_shell(void **state)
{
    (void)state;
    char buffer[64], *words[4];
    assert_int_equal(
        tui_command_split(buffer, sizeof buffer, words, 4, " a  'b c'\\ d \"e\\\"f\" "), 3);
    assert_string_equal(words[0], "a");
    assert_string_equal(words[1], "b c d");
    assert_string_equal(words[2], "e\"f");
    assert_int_equal(tui_command_split(buffer, sizeof buffer, words, 4, "''"), 1);
    assert_string_equal(words[0], "");
    assert_int_equal(tui_command_split(buffer, sizeof buffer, words, 4, "  "), 0);
    assert_int_equal(tui_command_split(buffer, sizeof buffer, words, 4, "\"a"), -1);
    assert_int_equal(tui_command_split(buffer, sizeof buffer, words, 4, "a 'b"), -1);
    assert_int_equal(tui_command_split(buffer, sizeof buffer, words, 4, "a b c d e"), -1);
    assert_int_equal(tui_command_split(buffer, 4, words, 4, "abcd"), -1);
    assert_int_equal(tui_command_split(buffer, 5, words, 4, "abcd"), 1);
    assert_int_equal(tui_command_split(buffer, sizeof buffer, words, 4, "a\\"), 1);
    assert_string_equal(words[0], "a\\");
}

/* The words that may stand there, with blanks between; and where they begin. */
static void offers(const char *line, size_t wanted_from, const char *wanted)
{
    static const struct tui_command_table table = {.verbs = verbs};
    static struct mgb_facts_device devices[] = {
        {.name = "/cpu:0"}, {.name = "/gpu:0"}, {.name = "/gpu:1"}, {.name = "/gpu:2"}};
    static struct mgb_facts facts = {.device_count = 4, .devices = devices};
    strcpy(facts.options[MGB_OPTION_BATCH].effective, "32");
    struct tui_completions completions = {&table, &facts, "lenet\nmlp\nmnist_cnn\n"};
    static char out[200][160];
    char all[8000] = "";
    size_t from = 1000;
    int count = tui_command_complete(&completions, line, out, 200, &from);
    for (int i = 0; i < count; i++) {
        strcat(all, i ? " " : "");
        strcat(all, out[i]);
    }
    if (strcmp(all, wanted) != 0 || from != wanted_from)
        fail_msg("completing '%s' offered from %zu\n    %s\nnot from %zu\n    %s", line, from, all,
                 wanted_from, wanted);
}

static void a_line_is_completed(void **state)
{
    (void)state;
    offers("wei", 0, "weights");
    offers("mod", 0, "models model");
    offers("com", 0, "compare compare-marked command");
    offers(":und", 1, "undo");
    offers("set bat", 4, "batch=");
    offers("set batch=64 gpu", 13, "gpus= gpu_memory=");
    offers("set batch=", 10, "32 nil");
    offers("batch=3", 6, "32");
    offers("set strategy=", 13, "outputs gradients allreduce independent nil");
    offers("set cpu_merge=t", 14, "true");
    offers("set peer_access=", 16, "auto true false nil");
    offers("set join_at=/g", 12, "/gpu:0 /gpu:1 /gpu:2");
    offers("set gpus=", 9, "1 2 3 nil");
    offers("model m", 6, "mlp mnist_cnn");
    offers("model mlp ", 10, "");
    offers("data ", 5, "random digits mnist");
    offers("backend h", 8, "host");
    offers("show ", 5, "last last~1 tag: baseline: sweep:");
    offers("compare last la", 13, "last last~1");
    offers("plan ml", 5, "mlp");
    offers("plan mlp --strat", 9, "--strategy");
    offers("plan mlp --strategy gr", 20, "gradients");
    offers("plan mlp --strategy=gr", 20, "gradients");
    offers("runs ", 5, "");
    offers("nonsense ", 9, "");
    offers("zzz", 0, "");
}

static void only_as_many_are_offered_as_there_is_room(void **state)
{
    (void)state;
    struct tui_completions completions = {NULL, NULL, NULL};
    char out[2][160];
    size_t from;
    assert_int_equal(tui_command_complete(&completions, "", out, 2, &from), 2);
    assert_int_equal(tui_command_complete(&completions, "set join_at=", out, 2, &from), 2);
    assert_string_equal(out[0], "/cpu:0");
    assert_int_equal(tui_command_complete(&completions, "model ", out, 2, &from), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_action_is_called_by_its_name),
        cmocka_unit_test(settings_of_the_bench_are_wishes),
        cmocka_unit_test(warmup_says_what_it_takes),
        cmocka_unit_test(verbs_go_to_mgbench),
        cmocka_unit_test(tags_and_notes_are_wishes_while_a_run_is_recorded),
        cmocka_unit_test(a_text_that_names_no_run_is_of_the_run_on_the_bench),
        cmocka_unit_test(everything_else_is_lua),
        cmocka_unit_test(a_slip_is_told_with_what_was_meant),
        cmocka_unit_test(words_are_those_of_a_shell),
        cmocka_unit_test(a_line_is_completed),
        cmocka_unit_test(only_as_many_are_offered_as_there_is_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
