# The lines that run.sh measured, as a row of its table:
#     model, batch   with 2x: two devices of one thread beside two processes of one thread
#     ours, torch    median over the rounds of a step's time, in ms; torch: of its faster layout, which is named
#     ratio          ours / torch, and its 95 % interval: 2000 resamples of the rounds, the same rounds on both sides, in each
#                    of which PyTorch's faster layout counts anew. Below 6 rounds it is hardly more than the range
#     goal, met      the most that the ratio may be; "?": the goal lies in the interval; "busy": others took more than a
#                    fifth of the machine, or "few": below 3 rounds, so nothing is said
#     MiB            peak resident memory, ours and torch's, and their ratio; of two processes the larger one, so no ratio
#     GFLOP/s        3 x forward operations of the model / time, ours and torch's, and which part of the peak ours is: products
#                    of matrices in cache on one core, the best so far, times the cores in use
#     of bare        the time of the bare operators, called one after another by tests/bench_bare, as a part of ours
#     others %       share of the machine that other programs took meanwhile, median
# -v head=1 prints the head alone. row: the row; figure: which time counts; cores: in use on either side.
function median(list, count,    i, j, kept) {
    for (i = 2; i <= count; i++) {
        kept = list[i]
        for (j = i - 1; j > 0 && list[j] > kept; j--) list[j + 1] = list[j]
        list[j + 1] = kept
    }
    return count % 2 ? list[(count + 1) / 2] : 0.5 * (list[count / 2] + list[count / 2 + 1])
}

# The median of a side's figure over the rounds named by pick[0...].
function over(figure, side,    i, list) {
    for (i = 0; i < rounds; i++) list[i + 1] = figure[side, pick[i]]
    return median(list, rounds)
}

# PyTorch's faster side over the rounds named by pick; its time in `fastest`.
function faster(    side, best, time) {
    best = ""
    for (side in sides) {
        if (side ~ /^mgbench/ || side == "bare") continue
        time = over(ms, side)
        if (best == "" || time < fastest) { best = side; fastest = time }
    }
    return best
}

function sort(list, count,    gap, i, j, kept) {
    for (gap = int(count / 2); gap > 0; gap = int(gap / 2))
        for (i = gap + 1; i <= count; i++) {
            kept = list[i]
            for (j = i - gap; j > 0 && list[j] > kept; j -= gap) list[j + gap] = list[j]
            list[j + gap] = kept
        }
}

function resample(    r, i, ratios) {
    srand(1)
    for (r = 1; r <= 2000; r++) {
        for (i = 0; i < rounds; i++) pick[i] = int(rand() * rounds)
        faster()
        ratios[r] = over(ms, own) / fastest
    }
    sort(ratios, 2000)
    low = ratios[50]
    high = ratios[1950]
}

BEGIN {
    format = "%-16s %9s %9s %-13s %6s  %-15s %5s %-4s %6s %6s %6s %8s %8s %7s %7s %9s\n"
    if (head) {
        printf format, "model, batch", "ours ms", "torch ms", "", "ratio", "95 % interval", "goal", "met", "MiB", "torch", \
            "ratio", "GFLOP/s", "torch", "of peak", "of bare", "others %"
        exit
    }
}

{
    delete value
    for (i = 2; i <= NF; i++) { split($i, part, "="); value[part[1]] = part[2] }
    if (value["core_gflops"] * cores > peak) peak = value["core_gflops"] * cores
}

$1 == row {
    side = value["side"]
    round = value["round"]
    sides[side] = 1
    if (round + 1 > rounds) rounds = round + 1
    ms[side, round] = value[figure]
    mib[side, round] = value["maxrss_kb"] / 1024
    if (side ~ /^mgbench/) {
        own = side
        flops = 3 * value["forward_flops"]
    }
    split(value["cpu_s"], spent, "+")
    split(value["ticks"], ticks, ",")
    whole = ticks[4] - ticks[2]
    other = ticks[3] - ticks[1] - (spent[1] + spent[2]) * value["rate"]
    others[++measured] = whole > 0 && other > 0 ? 100 * other / whole : 0
}

END {
    if (head) exit
    for (i = 0; i < rounds; i++) pick[i] = i
    peer = faster()
    time = over(ms, own)
    torch = fastest
    ratio = time / torch
    memory = over(mib, own)
    torch_memory = over(mib, peer)
    resample()
    taken = median(others, measured)
    met = taken > 20 ? "busy" : rounds < 3 ? "few" : low <= goal && goal < high ? (ratio <= goal ? "yes?" : "no?") : ratio <= goal ? "yes" : "no"
    memory_ratio = memory_goal == "" ? "-" : sprintf("%.2f%s", memory / torch_memory, memory / torch_memory > memory_goal ? "!" : "")
    printf format, row, sprintf("%.1f", time), sprintf("%.1f", torch), peer, sprintf("%.3f", ratio), \
        sprintf("%.3f to %.3f", low, high), goal, met, sprintf("%.0f", memory), sprintf("%.0f", torch_memory), memory_ratio, \
        sprintf("%.1f", flops / time / 1e6), sprintf("%.1f", flops / torch / 1e6), \
        (peak > 0 ? sprintf("%.0f %%", 100 * flops / time / 1e6 / peak) : "-"), \
        ("bare" in sides ? sprintf("%.0f %%", 100 * over(ms, "bare") / time) : "-"), sprintf("%.0f", taken)
}
