#!/usr/bin/python3
"""Makes tests/golden/data: arrays as numpy 1.24 writes them (Debian: python3-numpy), and what it reads of them.

Run by hand when a case is added. Tests only read the files.
"""
import io
import os
import numpy as np
from numpy.lib import format as npy

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
ROWS = 5
lines = []


def note(name, values):
    values = np.asarray(values, dtype=np.float64).ravel()
    lines.append("%s : %d : %s" % (name, values.size, " ".join("%.9g" % v for v in values)))


def version(path, array, v):
    with open(os.path.join(HERE, path), "wb") as f:
        npy.write_array(f, array, version=v)


rng = np.random.default_rng(1)
arrays = {
    "f4": rng.normal(size=(ROWS, 4, 3)).astype("<f4"),
    "f8": rng.normal(size=(ROWS, 4, 3, 1)),
    "i4": rng.integers(-1000, 1000, (ROWS, 4, 3)).astype("<i4"),
    "i8": rng.integers(-1 << 20, 1 << 20, (ROWS, 4, 3)),
    "u1": rng.integers(0, 256, (ROWS, 4, 3)).astype("u1"),
    "y_i8": rng.integers(0, 7, ROWS),
    "y_i4": rng.integers(0, 7, (ROWS, 1)).astype("<i4"),
    "y_u1": rng.integers(0, 7, ROWS).astype("u1"),
    "y_f8": rng.integers(0, 7, ROWS).astype("f8"),
}
for name, a in arrays.items():
    b = a.astype("f4") / np.float32(255) if name == "u1" else a.astype("f4")
    note(name, b)
np.savez(os.path.join(HERE, "stored.npz"), **arrays)
np.savez_compressed(os.path.join(HERE, "deflated.npz"), **arrays)
np.savez(os.path.join(HERE, "odd.npz"), fortran=np.asfortranarray(arrays["f4"]), big=arrays["f4"].astype(">f4"),
         half=arrays["f4"].astype("f2"), text=np.array(["a", "b"]), scalar=np.float32(3), none=np.zeros((0, 4, 3), "f4"),
         record=np.zeros(2, dtype=[("a", "f4"), ("b", "i4")]), short=arrays["f4"][:3], wide=arrays["f4"][:, :2],
         infinite=np.full((ROWS, 4, 3), 1e300), half_way=np.full(ROWS, 0.5), large=np.full(ROWS, 1 << 40), class_9=np.full(ROWS, 9))
for v in (1, 2, 3):
    version("v%d.npy" % v, arrays["f4"], (v, 0))
table = rng.normal(size=(20, 2)) * 10.0 ** rng.integers(-30, 30, (20, 2))
with open(os.path.join(HERE, "numbers.csv"), "w") as f:
    f.write("a,b,kind\n" + "".join("%r,%.9e,%d\n" % (float(a), b, i % 3) for i, (a, b) in enumerate(table)))
note("csv", np.loadtxt(os.path.join(HERE, "numbers.csv"), delimiter=",", skiprows=1, usecols=(0, 1)).astype("f4"))
with open(os.path.join(HERE, "arrays.txt"), "w") as f:
    f.write("\n".join(lines) + "\n")
