#!/usr/bin/python3
"""Makes tests/golden/statistics/figures.txt with SciPy, NumPy, statsmodels and arch: what db/ computes, by other hands.

Run by hand when a case is added (pip install scipy numpy statsmodels arch). Tests only read the text file, in the form
that tests/support/golden.h reads: "label : dims : values".
"""
import os
import numpy
from arch.bootstrap import optimal_block_length
from scipy import stats
from statsmodels.stats.multitest import multipletests

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "statistics", "figures.txt")
random = numpy.random.default_rng(20260131)
lines = []


def write(label, values):
    values = numpy.atleast_1d(numpy.asarray(values, dtype=float))
    lines.append("%s : %d : %s" % (label, len(values), " ".join("%.17g" % v for v in values)))


def steps(count, heavy):
    """Step times in whole microseconds, small enough to be exact as float32."""
    noise = random.standard_t(2, count) if heavy else random.normal(size=count)
    return numpy.maximum(1, numpy.round(100000 + 2000 * noise))


for case, count in enumerate([4, 7, 40, 201, 500]):
    x = numpy.array([100000, 100000, 100000, 200000.0]) if count == 4 else steps(count, case % 2)
    q1, q3 = numpy.percentile(x, [25, 75])
    iqr = q3 - q1
    flags = numpy.select([x < q1 - 3 * iqr, x < q1 - 1.5 * iqr, x > q3 + 3 * iqr, x > q3 + 1.5 * iqr], [1, 2, 4, 3], 0)
    write("steps %d" % count, x)
    write("figures %d" % count, [numpy.median(x), stats.median_abs_deviation(x), *numpy.percentile(x, [5, 25, 75, 95, 99])])
    write("flags %d" % count, flags)

for m, n, ties in [(1, 1, 0), (3, 3, 0), (5, 5, 0), (5, 8, 0), (20, 25, 0), (4, 5, 1), (8, 8, 1), (60, 70, 1)]:
    a = numpy.round(random.normal(0, 4, m)) if ties else random.normal(0, 4, m)
    b = numpy.round(random.normal(3, 4, n)) if ties else random.normal(3, 4, n)
    a, b = a.astype(numpy.float32).astype(float), b.astype(numpy.float32).astype(float)
    exact = stats.PermutationMethod(n_resamples=numpy.inf)
    method = "asymptotic" if m + n > 100 else exact if ties else "exact"
    found = stats.mannwhitneyu(a, b, method=method)
    write("rank %d %d a" % (m, n), a)
    write("rank %d %d b" % (m, n), b)
    write("rank %d %d u p" % (m, n), [found.statistic, found.pvalue])

for case, p in enumerate([[0.03], [0.01, 0.04, 0.03, 0.005], [0.2, 0.2, 0.001, 0.9, 0.02], list(random.uniform(0, 0.2, 30))]):
    p = numpy.array(p, dtype=numpy.float32).astype(float)
    write("holm %d p" % case, p)
    write("holm %d adjusted" % case, multipletests(p, method="holm")[1])

t, freedom = [], []
for f in [1, 2, 3.7, 8, 30, 1000.5]:
    for share in [0.4, 0.025, 0.001]:
        t.append(stats.t.isf(share, f))
        freedom.append(f)
write("student freedom", freedom)
write("student quantile", t)
write("student above 1.5", stats.t.sf(1.5, freedom))

for case, (count, rho) in enumerate([(200, 0.0), (200, 0.3), (300, 0.8), (1000, 0.6)]):
    x = numpy.zeros(count)
    for i in range(1, count):
        x[i] = rho * x[i - 1] + random.normal()
    x = x.astype(numpy.float32).astype(float)
    write("block %d series" % case, x)
    write("block %d length" % case, optimal_block_length(x)["circular"].iloc[0])

os.makedirs(os.path.dirname(PATH), exist_ok=True)
with open(PATH, "w") as out:
    out.write("\n".join(lines) + "\n")
