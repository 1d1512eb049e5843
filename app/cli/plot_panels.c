/* What all plots share: panels, heading, foot. See plot_charts.h. */
#include "app/cli/plot_charts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const enum plot_dimension plot_subject_dimensions[5] = {PLOT_MODEL, PLOT_OPTIONS, PLOT_MACHINE,
                                                        PLOT_BACKEND, PLOT_PRECISION};

bool plot_same_subject(const struct plot_cell *a, const struct plot_cell *b)
{
    return plot_alike(a, b, plot_subject_dimensions, 5);
}

static bool panel_add(struct plot_panels *panels, size_t cell, size_t cell_count)
{
    struct plot_panel *all = realloc(panels->all, (panels->count + 1) * sizeof *all);
    if (!all)
        return false;
    panels->all = all;
    size_t *members = malloc(cell_count * sizeof *members);
    if (!members)
        return false;
    members[0] = cell;
    all[panels->count++] = (struct plot_panel){members, 1};
    return true;
}

enum mgb_status plot_panels_make(struct plot_panels *out, const struct plot_cells *cells,
                                 bool (*same)(const struct plot_cell *, const struct plot_cell *))
{
    *out = (struct plot_panels){0};
    for (size_t i = 0; i < cells->count; i++) {
        struct plot_panel *found = NULL;
        for (size_t k = 0; k < out->count && !found; k++)
            if (same(&cells->all[out->all[k].members[0]], &cells->all[i]))
                found = &out->all[k];
        if (found) {
            found->members[found->count++] = i;
        } else if (!panel_add(out, i, cells->count)) {
            plot_panels_done(out);
            return mgb_fail(MGB_NO_MEMORY, "making a plot: memory is exhausted");
        }
    }
    return MGB_OK;
}

void plot_panels_done(struct plot_panels *panels)
{
    for (size_t i = 0; i < panels->count; i++)
        free(panels->all[i].members);
    free(panels->all);
    *panels = (struct plot_panels){0};
}

static bool one_subject(const struct plot_cells *cells)
{
    for (size_t i = 1; i < cells->count; i++)
        if (!plot_same_subject(&cells->all[0], &cells->all[i]))
            return false;
    return true;
}

void plot_title(struct mgb_picture *picture, const char *what, const struct plot_cells *cells)
{
    char *subject = plot_subject(cells, &cells->all[0]);
    picture->failed = picture->failed || !subject;
    if (one_subject(cells))
        mgb_picture_say(&picture->title, &picture->failed, "%s: %s", what, subject ? subject : "");
    else
        mgb_picture_say(&picture->title, &picture->failed, "%s", what);
    free(subject);
}

char *plot_prefix(const struct plot_cells *cells, const struct plot_cell *cell)
{
    char *subject = one_subject(cells) ? strdup("") : plot_subject(cells, cell), *text;
    if (!subject || !*subject)
        return subject;
    if (asprintf(&text, "%s: ", subject) < 0)
        text = NULL;
    free(subject);
    return text;
}

const char *plot_step_text(const struct plot_cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        if (cells->all[i].count > 1)
            return "mean of the runs' median steps";
    return "median step";
}

char *plot_count_text(char out[120], const struct plot_cells *cells)
{
    int64_t least = 0, most = 0;
    int few = 0, many = 0;
    for (size_t i = 0; i < cells->count; i++) {
        const struct plot_cell *cell = &cells->all[i];
        if (cell->oom)
            continue;
        least = most == 0 || cell->steps < least ? cell->steps : least;
        few = most == 0 || cell->count < few ? cell->count : few;
        most = cell->steps > most ? cell->steps : most;
        many = cell->count > many ? cell->count : many;
    }
    char runs[40] = "", steps[48];
    if (few < many)
        snprintf(runs, sizeof runs, "%d to %d runs of ", few, many);
    else if (many > 1)
        snprintf(runs, sizeof runs, "%d runs of ", many);
    if (least < most)
        snprintf(steps, sizeof steps, "%lld to %lld", (long long)least, (long long)most);
    else
        snprintf(steps, sizeof steps, "%lld", (long long)most);
    snprintf(out, 120, "n = %s%s timed steps", runs, steps);
    return out;
}

void plot_note(struct mgb_picture *picture, const struct plot_cells *cells, size_t left_out)
{
    size_t unsteady = 0, wrong = 0, crowded = 0, simulated = 0, older = 0, host = 0;
    for (size_t i = 0; i < cells->count; i++) {
        const struct plot_cell *cell = &cells->all[i];
        unsteady += cell->unsteady;
        wrong += cell->wrong != 0;
        crowded += cell->oversubscribed;
        simulated += cell->simulated;
        host += strcmp(cell->values[PLOT_BACKEND], "host") == 0;
        older += (size_t)cell->older;
    }
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    picture->failed = picture->failed || !out;
    if (!out)
        return;
    if (simulated > 0)
        fputs("Simulated: played on a virtual clock, not measured. ", out);
    if (host > 0)
        fputs("Backend host: /gpu:N are CPU devices. ", out);
    if (unsteady > 0)
        fprintf(out, "%zu of %zu never became steady: their figures may drift. ", unsteady,
                cells->count);
    if (wrong > 0)
        fprintf(out,
                "%zu of %zu trained otherwise than asked for (duplicates, or replicas that "
                "differ): mgbench show says what. ",
                wrong, cells->count);
    if (crowded > 0)
        fprintf(out, "%zu of %zu ran more threads than there are cores. ", crowded, cells->count);
    if (older > 0)
        fprintf(out, "The newest measurement of each placement is shown, %zu older left out. ",
                older);
    if (left_out > 0)
        fprintf(out, "%zu further panels are left out: name a run, a tag or a sweep. ", left_out);
    if (fclose(out) != 0)
        picture->failed = true;
    else if (size > 0)
        text[size - 1] = '\0'; /* the last sentence's blank */
    free(picture->note);
    picture->note = text;
}
