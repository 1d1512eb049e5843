/* Runs two commands in turn and compares a figure that each prints as "name=value" or "name value":
 *     bench_pairs [-n pairs] [-f figure] [-s scale] [-e figure] [-q percent] -- A [argument ...] [-- B [argument ...]]
 * Prints the ratio scale * A / B of the medians, and the median of the ratios pair by pair, each with a 95 % interval from
 * 2000 resamples of the pairs (fixed seed); of one command its median. Who goes first changes from pair to pair. others
 * is the share of the machine's CPU time, in percent, that went to other programs during a pair, its median: where it is
 * not near 0 the times say little. -q: a pair during which others took more is run again, up to 20 times. The figure
 * wall_ms is the time a command takes, from its start to its end. -e: a figure that both must print alike.
 * Exit code 1 when a command fails, 2 for wrong usage. */
#include <errno.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 200, RESAMPLES = 2000, ATTEMPTS = 20 };

struct pairs {
    int count, sides;    /* sides: commands */
    double scale, quiet; /* quiet: the most percent that others may take; 100: whatever they take */
    const char *figure, *equal;
    char **command[2];
    double value[2][MOST];
};

/* CPU time of the machine since it started, in seconds: spent, and spent or idle. */
static void machine_read(double *busy, double *whole)
{
    double part[8] = {0}; /* user nice system idle iowait irq softirq steal, in clock ticks */
    FILE *file = fopen("/proc/stat", "r");
    if (file && fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &part[0], &part[1], &part[2],
                       &part[3], &part[4], &part[5], &part[6], &part[7]) < 4)
        memset(part, 0, sizeof part);
    if (file)
        fclose(file);
    double tick = (double)sysconf(_SC_CLK_TCK), idle = part[3] + part[4];
    *whole = 0;
    for (int i = 0; i < 8; i++)
        *whole += part[i] / tick;
    *busy = *whole - idle / tick;
}

/* CPU time of the commands that have ended, in seconds. */
static double commands_read(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void stop(const char *what, const char *which)
{
    fprintf(stderr, "bench_pairs: %s: %s\n", which, what);
    exit(1);
}

/* Standard output of the command; ends this program when it fails. */
static void output_get(char *out, size_t size, char **command)
{
    int ends[2], status = 0;
    size_t length = 0;
    if (pipe(ends) != 0)
        stop(strerror(errno), "pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(command[0], command);
        fprintf(stderr, "bench_pairs: %s: %s\n", command[0], strerror(errno));
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t got;
         length + 1 < size && (got = read(ends[0], out + length, size - 1 - length)) > 0;)
        length += (size_t)got;
    out[length] = '\0';
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0)
        stop("failed", command[0]);
}

/* The text after name=; ends this program when it is not there. */
static const char *figure_find(const char *output, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = output; (at = strstr(at, name)) != NULL; at += length)
        if ((at == output || at[-1] == ' ' || at[-1] == '\n') &&
            (at[length] == '=' || at[length] == ' '))
            return at + length + 1;
    stop(name, "a command did not print");
    return output;
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void pair_run(struct pairs *pairs, int pair)
{
    char output[2][4096], equal[2][64] = {"", ""};
    for (int turn = 0; turn < pairs->sides; turn++) {
        int side = (turn + pair) % pairs->sides;
        char **command = pairs->command[side];
        double begin_ms = now_ms();
        output_get(output[side], sizeof output[side], command);
        pairs->value[side][pair] = now_ms() - begin_ms;
        if (strcmp(pairs->figure, "wall_ms") != 0)
            pairs->value[side][pair] = strtod(figure_find(output[side], pairs->figure), NULL);
        if (pairs->equal)
            sscanf(figure_find(output[side], pairs->equal), "%63s", equal[side]);
    }
    if (pairs->sides == 2 && strcmp(equal[0], equal[1]) != 0) {
        fprintf(stderr, "bench_pairs: %s is %s and %s\n", pairs->equal, equal[0], equal[1]);
        exit(1);
    }
}

/* Percent of the machine's CPU time since `at` that went to others. */
struct moment {
    double busy, whole, own;
};

static struct moment moment_get(void)
{
    struct moment now = {.own = commands_read()};
    machine_read(&now.busy, &now.whole);
    return now;
}

static double others_get(const struct moment *at)
{
    struct moment now = moment_get();
    double others = now.busy - at->busy - (now.own - at->own), whole = now.whole - at->whole;
    return others > 0 && whole > 0 ? 100 * others / whole : 0;
}

/* Again while others take too much, but not for ever. */
static double pair_repeat(struct pairs *pairs, int pair)
{
    double others = 0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct moment begin = moment_get();
        pair_run(pairs, pair);
        others = others_get(&begin);
        if (others <= pairs->quiet)
            break;
    }
    return others;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

static uint64_t random_next(uint64_t *state) /* splitmix64, public domain, Vigna 2015 */
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* What a resample, the pairs named by `pick`, comes to. */
struct figures {
    double ratio, paired, a, b;
};

static struct figures figures_get(const struct pairs *pairs, const int *pick)
{
    double value[2][MOST], ratio[MOST];
    for (int i = 0; i < pairs->count; i++) {
        value[0][i] = pairs->value[0][pick[i]];
        value[1][i] = pairs->sides == 2 ? pairs->value[1][pick[i]] : 1;
        ratio[i] = pairs->scale * value[0][i] / value[1][i];
    }
    struct figures figures = {.paired = median(ratio, pairs->count),
                              .a = median(value[0], pairs->count),
                              .b = median(value[1], pairs->count)};
    figures.ratio = pairs->scale * figures.a / figures.b;
    return figures;
}

static void interval_print(const char *name, double whole, double *resampled)
{
    qsort(resampled, RESAMPLES, sizeof *resampled, compare);
    printf("%s=%.4f %s_low=%.4f %s_high=%.4f ", name, whole, name, resampled[RESAMPLES * 25 / 1000],
           name, resampled[RESAMPLES * 975 / 1000 - 1]);
}

static void result_print(const struct pairs *pairs, double others)
{
    static double ratio[RESAMPLES], paired[RESAMPLES], a[RESAMPLES];
    int pick[MOST];
    uint64_t state = 1;
    for (int r = 0; r < RESAMPLES; r++) {
        for (int i = 0; i < pairs->count; i++)
            pick[i] = (int)(random_next(&state) % (uint64_t)pairs->count);
        struct figures figures = figures_get(pairs, pick);
        ratio[r] = figures.ratio;
        paired[r] = figures.paired;
        a[r] = figures.a;
    }
    for (int i = 0; i < pairs->count; i++)
        pick[i] = i;
    struct figures whole = figures_get(pairs, pick);
    if (pairs->sides == 2) {
        interval_print("ratio", whole.ratio, ratio);
        interval_print("paired", whole.paired, paired);
    }
    interval_print("a", whole.a, a);
    if (pairs->sides == 2)
        printf("b=%.4f ", whole.b);
    printf("runs=%d figure=%s others=%.0f\n", pairs->count, pairs->figure, others);
}

/* Splits what follows the options at "--"; false when there is no command. */
static int commands_split(struct pairs *pairs, int argc, char **argv, int at)
{
    pairs->command[0] = argv + at;
    pairs->sides = 1;
    for (int i = at; i < argc && pairs->sides == 1; i++)
        if (strcmp(argv[i], "--") == 0) {
            argv[i] = NULL;
            pairs->command[1] = argv + i + 1;
            pairs->sides = 2;
        }
    return pairs->command[0][0] && (pairs->sides == 1 || pairs->command[1][0]);
}

int main(int argc, char **argv)
{
    struct pairs pairs = {.count = 15, .scale = 1, .quiet = 100, .figure = "median_ms"};
    int option;
    while ((option = getopt(argc, argv, "+n:f:s:e:q:")) != -1) {
        if (option == 'n')
            pairs.count = atoi(optarg);
        else if (option == 'f')
            pairs.figure = optarg;
        else if (option == 'q')
            pairs.quiet = atof(optarg);
        else if (option == 's')
            pairs.scale = atof(optarg);
        else if (option == 'e')
            pairs.equal = optarg;
        else
            return 2;
    }
    if (pairs.count < 1 || pairs.count > MOST || !commands_split(&pairs, argc, argv, optind)) {
        fprintf(stderr, "usage: bench_pairs [-n pairs] [-f figure] [-s scale] [-e figure] -- A ... "
                        "[-- B ...]\n");
        return 2;
    }
    double others[MOST];
    for (int pair = 0; pair < pairs.count; pair++)
        others[pair] = pair_repeat(&pairs, pair);
    result_print(&pairs, median(others, pairs.count));
    return 0;
}
