/* See layout.h. The bench shares its rows out by a list of steps in order of importance: a part gets the next step's rows
 * when they are still there. */
#include "app/tui/layout.h"

struct tui_layout tui_layout_screen(int rows, int columns)
{
    rows = rows > 0 ? rows : 0;
    columns = columns > 0 ? columns : 0;
    struct tui_layout out = {.body = {.rows = rows, .columns = columns}};
    out.too_small = rows < TUI_LEAST_ROWS || columns < TUI_LEAST_COLUMNS;
    if (out.too_small)
        return out;
    out.head = (struct tui_rect){.y = 0, .rows = 1, .columns = columns};
    out.tabs = (struct tui_rect){.y = 1, .rows = 1, .columns = columns};
    out.body = (struct tui_rect){.y = 2, .rows = rows - 4, .columns = columns};
    out.hint = (struct tui_rect){.y = rows - 2, .rows = 1, .columns = columns};
    out.foot = (struct tui_rect){.y = rows - 1, .rows = 1, .columns = columns};
    return out;
}

enum part { PLACEMENT, ANSWER, CHART, PHASES, FACTS, PART_COUNT };
enum { ALL_DEVICES = 100, TOWERS }; /* instead of rows: one for each that has none yet */

struct share {
    enum part part;
    int rows;
};

/* Placement and answer side by side: both are as high as PLACEMENT. */
static const struct share wide_shares[] = {
    {PLACEMENT, 5}, {PHASES, 1},  {FACTS, 1},     {PLACEMENT, 2}, {PHASES, TOWERS},
    {PLACEMENT, 2}, {FACTS, 2},   {CHART, 3},     {CHART, 1},     {PHASES, ALL_DEVICES},
    {CHART, 2},     {FACTS, 1},   {PLACEMENT, 5}, {CHART, 6},     {PLACEMENT, 14},
    {FACTS, 3},     {CHART, 100},
};
static const struct share narrow_shares[] = {
    {ANSWER, 3},      {PHASES, 1},           {PLACEMENT, 2}, {FACTS, 1},
    {PLACEMENT, 2},   {ANSWER, 1},           {PLACEMENT, 2}, {ANSWER, 2},
    {PHASES, TOWERS}, {PLACEMENT, 3},        {ANSWER, 3},    {FACTS, 2},
    {CHART, 3},       {PHASES, ALL_DEVICES}, {CHART, 3},     {FACTS, 1},
    {PLACEMENT, 14},  {ANSWER, 6},           {FACTS, 3},     {CHART, 100},
};

/* Rows that the phases still want: with their rule; four towers before other parts are served. */
static int phases_want(int rows, int given, int devices, int towers)
{
    int few = towers < 4 ? towers : 4;
    int wanted = 1 + (rows == TOWERS ? (few > 0 ? few : 1) : devices);
    return wanted > given ? wanted - given : 0;
}

static bool is_first(const struct share *shares, int at)
{
    for (int i = 0; i < at; i++)
        if (shares[i].part == shares[at].part)
            return false;
    return true;
}

/* The first rows of a part all or none, later ones as many as there are. */
static void rows_share(int given[PART_COUNT], int rows, const struct share *shares, int count,
                       int devices, int towers)
{
    for (int i = 0; i < count && rows > 0; i++) {
        enum part part = shares[i].part;
        int wanted = shares[i].rows;
        bool first = is_first(shares, i);
        if (!first && given[part] == 0)
            continue;
        if (part == PHASES && wanted >= ALL_DEVICES)
            wanted = phases_want(wanted, given[PHASES], devices, towers);
        if (wanted > rows)
            wanted = first ? 0 : rows;
        given[part] += wanted;
        rows -= wanted;
    }
}

static struct tui_rect part_take(struct tui_rect *rest, int rows)
{
    struct tui_rect part = *rest;
    part.rows = rows < rest->rows ? rows : rest->rows;
    rest->y += part.rows;
    rest->rows -= part.rows;
    return part;
}

struct tui_layout_bench tui_layout_bench_make(struct tui_rect body, int devices, int towers)
{
    struct tui_layout_bench out;
    int given[PART_COUNT] = {0};
    bool wide = body.columns >= TUI_WIDE_COLUMNS;
    devices = devices > 0 ? devices : 1;
    body.rows = body.rows > 0 ? body.rows : 0;
    body.columns = body.columns > 0 ? body.columns : 0;
    if (wide)
        rows_share(given, body.rows, wide_shares, sizeof wide_shares / sizeof *wide_shares, devices,
                   towers);
    else
        rows_share(given, body.rows, narrow_shares, sizeof narrow_shares / sizeof *narrow_shares,
                   devices, towers);
    out.placement = part_take(&body, given[PLACEMENT]);
    if (wide) { /* a column between them is left for a line */
        out.answer = out.placement;
        out.placement.columns = body.columns * 23 / 40;
        out.answer.x += out.placement.columns + 1;
        out.answer.columns -= out.placement.columns + 1;
    } else {
        out.answer = part_take(&body, given[ANSWER]);
    }
    out.chart = part_take(&body, given[CHART]);
    out.phases = part_take(&body, given[PHASES]);
    out.facts = part_take(&body, given[FACTS]);
    int rows = out.phases.rows;
    out.phase_rows = rows > 2 || rows > devices ? rows - 1 : rows;
    return out;
}
