/* See busy.h. */
#include "app/cli/busy.h"

#include "app/script/table.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <mgb/text.h>

void mgb_busy_look(struct mgb_busy *out)
{
    long long t[8] = {0}, all = 0;
    double tick = (double)sysconf(_SC_CLK_TCK);
    struct timespec own;
    FILE *file = fopen("/proc/stat", "r");
    int got = file ? fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &t[0], &t[1],
                            &t[2], &t[3], &t[4], &t[5], &t[6], &t[7])
                   : 0;
    if (file)
        fclose(file);
    for (int i = 0; i < 8; i++)
        all += t[i];
    *out = (struct mgb_busy){.known = got >= 5 && tick > 0 &&
                                      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) == 0};
    if (!out->known)
        return;
    out->all_s = (double)all / tick;
    out->busy_s = (double)(all - t[3] - t[4]) / tick; /* idle, and waiting for a disk */
    out->own_s = (double)own.tv_sec + (double)own.tv_nsec * 1e-9;
}

int mgb_busy_percent(const struct mgb_busy *from, const struct mgb_busy *to)
{
    double all = to->all_s - from->all_s;
    double others = to->busy_s - from->busy_s - (to->own_s - from->own_s);
    if (!from->known || !to->known || all <= 0 || others <= 0)
        return 0;
    return (int)(100 * (others < all ? others / all : 1));
}

void mgb_floor_doubt_count(char *out, size_t size, bool quick, int decided, int refused)
{
    *out = '\0';
    if (quick)
        snprintf(out, size, "--quick is too short for a floor by which others are judged");
    else if (refused > 0)
        snprintf(out, size, "step times never settled in %d comparison%s: the machine is not quiet",
                 refused, refused == 1 ? "" : "s");
    else if (decided < MGB_COMPARE_FLOOR_LEAST)
        snprintf(out, size, "%d comparison%s too few: a floor is of %d or more", decided,
                 decided == 1 ? " is" : "s are", MGB_COMPARE_FLOOR_LEAST);
}

void mgb_floor_doubt(char *out, size_t size, int busy_percent, double floor, bool simulated)
{
    char percent[40];
    *out = '\0';
    if (busy_percent >= MGB_BUSY_PERCENT && !simulated)
        snprintf(out, size,
                 "the machine was busy: other programs took %d %% of its processors, so the noise "
                 "found is theirs too",
                 busy_percent);
    else if (floor > MGB_COMPARE_FLOOR_MOST)
        snprintf(out, size,
                 "%s %% is more than a quiet machine has, and would make nearly every comparison "
                 "\"same\"",
                 mgb_format_figure(percent, 100 * floor));
}
