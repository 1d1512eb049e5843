/* Bars of phases; see chart.h. */
#include "app/tui/chart.h"

#include <math.h>

static const char letters[MGB_PHASE_COUNT] = {
    [MGB_PHASE_INPUT] = 'i',    [MGB_PHASE_FETCH] = '.', [MGB_PHASE_FORWARD] = 'f',
    [MGB_PHASE_BACKWARD] = 'b', [MGB_PHASE_JOIN] = 'j',  [MGB_PHASE_SUM] = 's',
    [MGB_PHASE_UPDATE] = 'u',   [MGB_PHASE_WAIT] = 'w'};

char tui_phase_letter(enum mgb_phase phase)
{
    return (unsigned)phase < MGB_PHASE_COUNT ? letters[phase] : '?';
}

enum tui_style tui_phase_style(enum mgb_phase phase)
{
    return (unsigned)phase < MGB_PHASE_COUNT ? (enum tui_style)(TUI_SERIES + (int)phase)
                                             : TUI_PLAIN;
}

/* Cells of each part: rounded down, at least one, and what is left goes to the largest remainders (Hamilton's method). */
static void cells_share(int *cells, const struct tui_bar_part *parts, int count, int columns)
{
    double sum = 0;
    int given = 0;
    for (int i = 0; i < count; i++) {
        double share = parts[i].share > 0 ? parts[i].share : 0;
        sum += share;
        cells[i] = (int)floor(share * columns);
        if (share > 0 && cells[i] == 0)
            cells[i] = 1;
        given += cells[i];
    }
    int whole = (int)lround(fmin(sum, 1) * columns);
    while (given < whole) {
        int best = -1;
        for (int i = 0; i < count; i++)
            if (parts[i].share > 0 && (best < 0 || parts[i].share * columns - cells[i] >
                                                       parts[best].share * columns - cells[best]))
                best = i;
        if (best < 0)
            return;
        cells[best]++, given++;
    }
    while (given >
           whole) { /* ones that were given too much make room: the largest part can spare it */
        int best = -1;
        for (int i = 0; i < count; i++)
            if (best < 0 || cells[i] > cells[best])
                best = i;
        if (best < 0 || cells[best] == 0)
            return;
        cells[best]--, given--;
    }
}

void tui_chart_bar(struct tui_canvas *canvas, struct tui_rect area, int y, int x, int columns,
                   const struct tui_bar_part *parts, int count)
{
    int cells[TUI_BAR_MOST];
    count = count < TUI_BAR_MOST ? count : TUI_BAR_MOST;
    if (columns <= 0 || count <= 0)
        return;
    cells_share(cells, parts, count, columns);
    for (int i = 0; i < count; i++) {
        tui_fill(canvas, area, y, x, cells[i], parts[i].style, (unsigned char)parts[i].letter,
                 parts[i].letter);
        x += cells[i];
    }
}
