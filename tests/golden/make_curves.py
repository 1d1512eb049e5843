#!/usr/bin/python3
"""Makes tests/golden/curves/*.txt with PyTorch 1.13 (Debian: python3-torch), in double: the losses of 200 steps on the data
that ships, the digits and the novel, in stored order from weights by a formula.

Run by hand when a case is added. tests/engine/exec/test_golden_curves.c trains the same nets.
"""
import collections
import gzip
import os
import numpy
import torch
import torch.nn.functional as F
from models import uniform

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "scripts", "data")
STEPS = 200
torch.set_default_dtype(torch.float64)


def idx(name, header):
    with gzip.open(os.path.join(DATA, name)) as f:
        return numpy.frombuffer(f.read(), numpy.uint8, offset=header)


class Curve:
    """Weights by number as in test_golden_curves.c, and the losses."""

    def __init__(self, name):
        self.name, self.params = name, []

    def weight(self, shape, scale):
        p = uniform(shape, 100 + len(self.params), scale).requires_grad_()
        self.params.append(p)
        return p

    def train(self, loss_of, batches, optimizer):
        losses = []
        for step in range(STEPS):
            optimizer.zero_grad()
            loss = loss_of(*batches(step))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        with open(os.path.join(HERE, "curves", self.name + ".txt"), "w") as f:
            f.write("loss : %d : %s\n" % (STEPS, " ".join("%.9g" % v for v in losses)))
        print(self.name, "%.4f ... %.4f, %.4f" % (losses[0], losses[-2], losses[-1]))


def digits():
    rows, batch = 1600, 32
    x = torch.from_numpy(idx("digits-images-idx3-ubyte.gz", 16).astype(numpy.float64) / 255).reshape(-1, 1, 8, 8)
    y = torch.from_numpy(idx("digits-labels-idx1-ubyte.gz", 8).astype(numpy.int64))
    c = Curve("digits")
    k1, b1 = c.weight((3, 3, 1, 8), 0.5), c.weight((8,), 0.1)
    k2, b2 = c.weight((3, 3, 8, 16), 0.25), c.weight((16,), 0.1)
    k3, b3 = c.weight((256, 10), 0.1), c.weight((10,), 0.1)

    def loss_of(x, y):
        h = F.relu(F.conv2d(x, k1.permute(3, 2, 0, 1), b1, padding=1))
        h = F.relu(F.conv2d(F.max_pool2d(h, 2), k2.permute(3, 2, 0, 1), b2, padding=1))
        return F.cross_entropy(h.permute(0, 2, 3, 1).reshape(-1, 256) @ k3 + b3, y)

    def batches(step):
        at = step * batch % rows
        return x[at:at + batch], y[at:at + batch]

    c.train(loss_of, batches, torch.optim.SGD(c.params, lr=0.02, momentum=0.9))


def novel():
    seq, batch, units, width = 24, 16, 32, 16
    with gzip.open(os.path.join(DATA, "northanger-abbey.txt.gz")) as f:
        text = f.read().decode("utf-8-sig")
    ranked = [ch for ch, _ in collections.Counter(text).most_common()]  # equals: the first seen
    number = {ch: i for i, ch in enumerate(ranked)}
    ids = torch.tensor([number[ch] for ch in text])
    words = len(ranked)
    c = Curve("novel")
    table = c.weight((words, width), 0.5)
    kernel, recurrent, bias = c.weight((width, 4 * units), 0.3), c.weight((units, 4 * units), 0.3), c.weight((4 * units,), 0.1)
    w, b = c.weight((units, words), 0.3), c.weight((words,), 0.1)

    def loss_of(x, y):
        values = [kernel.t(), recurrent.t(), bias, torch.zeros(4 * units)]
        states, _, _ = torch.lstm(F.embedding(x, table), (torch.zeros(1, batch, units), torch.zeros(1, batch, units)), values,
                                  True, 1, 0.0, True, False, True)
        return F.cross_entropy((states @ w + b).reshape(-1, words), y.reshape(-1))

    def batches(step):
        rows = [(step * batch + i) * seq for i in range(batch)]
        return (torch.stack([ids[r:r + seq] for r in rows]), torch.stack([ids[r + 1:r + seq + 1] for r in rows]))

    c.train(loss_of, batches, torch.optim.Adam(c.params, lr=0.01, eps=1e-12))


digits()
novel()
