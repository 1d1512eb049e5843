/* How long the runs screen waits for its list: a results file of many runs as bench_database leaves it with MGB_BENCH_KEEP=1,
 * read as the screen does, from the asking to the answer, opening the file included. Prints a row a figure as run.sh does.
 *     bench_lists FILE          (reference/ecosystem.md, the first list in less than 100 ms) */
#include "app/session/workbench/archive.h"

#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static sem_t posted;

static void tell(void *context)
{
    (void)context;
    sem_post(&posted);
}

static double now_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void ask(struct mgb_archive *archive, const char *title, const char *goal,
                const struct mgb_list_request *request)
{
    double begin = now_ms(CLOCK_MONOTONIC), cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    mgb_archive_ask(archive, request);
    sem_wait(&posted);
    double ms = now_ms(CLOCK_MONOTONIC) - begin;
    cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    const struct mgb_list *list = mgb_archive_look(archive);
    char name[80];
    snprintf(name, sizeof name, "%s: %lld runs, ms", title, (long long)list->total);
    printf("%-46s %9.4g  %-18s %-8s %-8s%s\n", name, ms, "", goal ? goal : "-",
           !goal      ? ""
           : ms < 100 ? "yes"
                      : "no",
           list->message);
    if (goal)
        printf("%-46s %9.4g  %-18s -\n", "the same in processor time, ms", cpu, "");
    mgb_shared_drop(list);
}

int main(int argc, char **argv)
{
    struct mgb_archive *archive;
    struct mgb_list_request first = {.sort = MGB_LIST_RUN, .most = 400};
    struct mgb_list_request slow = {.sort = MGB_LIST_STEP_MS, .ascending = true, .most = 400};
    struct mgb_list_request full = {.sort = MGB_LIST_MEMORY, .most = 400};
    struct mgb_list_request last = {.sort = MGB_LIST_RUN, .first = 9600, .most = 400};
    struct mgb_list_request word = {.filter = "gpu:0", .most = 400};
    struct mgb_list_request none = {.filter = "nowhere", .most = 400};
    struct mgb_list_request column = {.filter = "step_ms>22.6 gpus=2", .most = 400};
    sem_init(&posted, 0, 0);
    if (argc < 2 || mgb_archive_open(&archive, argv[1], tell, NULL) != MGB_OK) {
        fprintf(stderr, "bench_lists FILE\n");
        return 1;
    }
    ask(archive, "first list, file opened", "<100", &first);
    ask(archive, "the same again", NULL, &first);
    ask(archive, "its last page", NULL, &last);
    ask(archive, "by step time", NULL, &slow);
    ask(archive, "by memory", NULL, &full);
    ask(archive, "a word that all have", NULL, &word);
    ask(archive, "a word that none has", NULL, &none);
    ask(archive, "two columns", NULL, &column);
    mgb_archive_close(archive);
    return 0;
}
