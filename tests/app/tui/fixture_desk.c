/* The fixture's list of runs, and a desk that remembers. */
#include "tests/app/tui/fixture.h"

#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void list_free(void *part)
{
    struct mgb_list *list = part;
    free(list->rows);
    free(list);
}

const struct mgb_list *fixture_list(void)
{
    static const char *const models[] = {"inception_v3", "resnet depth=50", "deep_qa", "mlp"};
    static const char *const outcomes[] = {"ok", "ok", "oom", "interrupted", "error"};
    static const char *const tags[] = {"", "paper", "nightly, p100"};
    struct mgb_list *list = calloc(1, sizeof *list);
    struct mgb_list_row *rows = calloc(FIXTURE_RUNS, sizeof *rows);
    if (!list || !rows) {
        free(list);
        free(rows);
        return NULL;
    }
    atomic_init(&list->shared.holders, 1);
    list->shared.free = list_free;
    list->version = 1, list->total = 10000, list->count = FIXTURE_RUNS, list->rows = rows;
    list->sort = MGB_LIST_RUN;
    for (int i = 0; i < FIXTURE_RUNS; i++) {
        bool ok = i % 5 < 2;
        double ms = ok ? 247.4 + i : NAN;
        rows[i] = (struct mgb_list_row){
            .run = 412 - i / 2,
            .segment = 1203 - i,
            .number = 2 - i % 2,
            .started = "2026-11-29 14:03",
            .model = models[i % 4],
            .backend = i % 4 == 3 ? "host" : "cuda",
            .outcome = outcomes[i % 5],
            .placement = "outputs, weights cpu:0, towers meet cpu:0, 4 GPUs x 32",
            .tags = tags[i % 3],
            .baseline = i == 7 ? "p100" : "",
            .simulated = i % 10 == 9,
            .gpus = ok ? 4 : -1,
            .batch_per_gpu = 32,
            .steps = ok ? 100 : -1,
            .peak_bytes = ok ? INT64_C(3021) << 20 : -1,
            .step_ms = ms,
            .low_ms = ms - 1,
            .high_ms = ms + 1,
            .rate = ok ? 128e3 / ms : NAN,
            .ratio = ok && i % 2 ? .9 + .01 * (i % 20) : NAN};
    }
    return list;
}

static void desk_ask(struct tui_desk *desk, const struct mgb_wish *wish)
{
    struct fixture_desk *d = desk->context;
    d->asked++;
    d->wish = *wish;
    snprintf(d->wish_text, sizeof d->wish_text, "%s", wish->text ? wish->text : "");
    d->wish.text = d->wish_text;
}

static void desk_list(struct tui_desk *desk, const struct mgb_list_request *request)
{
    struct fixture_desk *d = desk->context;
    d->listed++;
    d->request = *request;
    snprintf(d->request_filter, sizeof d->request_filter, "%s",
             request->filter ? request->filter : "");
    d->request.filter = d->request_filter;
}

static void desk_say(struct tui_desk *desk, enum mgb_line_kind kind, const char *text)
{
    struct fixture_desk *d = desk->context;
    d->said++;
    d->said_kind = kind;
    snprintf(d->said_text, sizeof d->said_text, "%s", text);
}

static void desk_question(struct fixture_desk *d, const char *question, const char *initial,
                          tui_answer *answer, void *context)
{
    snprintf(d->question, sizeof d->question, "%s", question);
    snprintf(d->initial, sizeof d->initial, "%s", initial ? initial : "");
    d->answer = answer, d->answer_context = context;
}

static void desk_prompt(struct tui_desk *desk, const char *question, const char *initial,
                        tui_answer *answer, void *context)
{
    struct fixture_desk *d = desk->context;
    d->prompted++;
    desk_question(d, question, initial, answer, context);
}

static void desk_confirm(struct tui_desk *desk, const char *question, tui_answer *answer,
                         void *context)
{
    struct fixture_desk *d = desk->context;
    d->confirmed++;
    desk_question(d, question, NULL, answer, context);
}

static void desk_menu(struct tui_desk *desk, const char *title, const struct tui_choice *choices,
                      int count, int chosen, tui_answer *answer, void *context)
{
    struct fixture_desk *d = desk->context;
    d->menus++;
    int most = (int)(sizeof d->choices / sizeof *d->choices);
    d->choice_count = count < most ? count : most;
    if (d->choice_count > 0)
        memcpy(d->choices, choices, sizeof *choices * (size_t)d->choice_count);
    d->chosen = chosen;
    snprintf(d->title, sizeof d->title, "%s", title);
    desk_question(d, "", NULL, answer, context);
}

static void desk_command(struct tui_desk *desk, const char *line)
{
    struct fixture_desk *d = desk->context;
    d->commanded++;
    snprintf(d->command, sizeof d->command, "%s", line);
}

static void desk_show(struct tui_desk *desk, const char *title, const char *text)
{
    struct fixture_desk *d = desk->context;
    d->shown++;
    snprintf(d->title, sizeof d->title, "%s", title);
    snprintf(d->shown_text, sizeof d->shown_text, "%s", text);
}

static void desk_go(struct tui_desk *desk, enum tui_place place)
{
    struct fixture_desk *d = desk->context;
    d->went++;
    d->place = place;
}

static void desk_act(struct tui_desk *desk, enum tui_action action)
{
    struct fixture_desk *d = desk->context;
    d->acted++;
    d->action = action;
}

void fixture_desk_init(struct fixture_desk *out)
{
    *out = (struct fixture_desk){.desk = {.context = out,
                                          .ask = desk_ask,
                                          .list = desk_list,
                                          .say = desk_say,
                                          .prompt = desk_prompt,
                                          .confirm = desk_confirm,
                                          .menu = desk_menu,
                                          .command = desk_command,
                                          .show = desk_show,
                                          .go = desk_go,
                                          .act = desk_act},
                                 .place = 0,
                                 .action = TUI_ACT_NONE};
}

void fixture_desk_answer(struct fixture_desk *desk, const char *text)
{
    assert_non_null(desk->answer);
    tui_answer *answer = desk->answer;
    desk->answer = NULL; /* the answer may ask the next question */
    answer(desk->answer_context, &desk->desk, text);
}
