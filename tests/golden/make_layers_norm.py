#!/usr/bin/python3
"""Makes tests/golden/layers/{batch_norm,layer_norm}.txt with PyTorch 1.13: losses, gradients, moving statistics.

Run by hand when a case is added (Debian: python3-torch). Tests only read the text files. The moving variance is that of
Keras' page, moving * momentum + var(batch) * (1 - momentum) with a variance divided by the number of values; PyTorch's own
running variance divides by one less, so it is computed here from what PyTorch computes.
"""
import math
import os
import torch
import torch.nn.functional as F

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "layers")
EPSILON, MOMENTUM = 1e-3, 0.9


def formula(count, salt):
    """Multiplicative hash to [-1, 1), the same as golden_formula() in tests/support/golden.c."""
    k = torch.arange(count, dtype=torch.int64)
    bits = ((k + 1) * 2654435761 + salt * 40503) & 0xFFFFFFFF
    return ((bits >> 8).double() / 8388608.0 - 1.0).float()


def tensor(shape, salt, scale=1.0):
    return (formula(math.prod(shape), salt) * scale).reshape(shape)


class Case:
    def __init__(self, name):
        self.name, self.lines, self.params = name, [], []

    def write(self, label, t):
        t = t.detach().contiguous()
        dims = " ".join(str(d) for d in t.shape)
        values = " ".join("%.9g" % v for v in t.flatten().tolist())
        self.lines.append("%s : %s : %s" % (label, dims, values))

    def param(self, shape, scale):
        p = tensor(shape, 100 + len(self.params), scale).requires_grad_()
        self.params.append(p)
        return p

    def train(self, loss_of, after, lr=0.2):
        """Losses before, after one and after two steps of SGD, and the gradients of the first; after(step) follows each."""
        optimizer = torch.optim.SGD(self.params, lr=lr)
        for s in range(3):
            optimizer.zero_grad()
            loss = loss_of()
            loss.backward()
            self.write("loss%d" % s, loss.reshape(1))
            for i, p in enumerate(self.params if s == 0 else []):
                self.write("grad%d" % i, p.grad.flatten())
            optimizer.step()
            after(s)
        with open(os.path.join(HERE, self.name + ".txt"), "w") as f:
            f.write("\n".join(self.lines) + "\n")


class Norm:
    """F.batch_norm over NHWC, with moving statistics after Keras."""

    def __init__(self, c, channels):
        self.gamma, self.beta = c.param((channels,), 1.5), c.param((channels,), .4)
        self.mean, self.variance = torch.zeros(channels), torch.ones(channels)

    def __call__(self, x, training=True):
        x = x.permute(0, 3, 1, 2)
        if training:
            self.batch = x.detach().mean((0, 2, 3)), x.detach().var((0, 2, 3), unbiased=False)
        y = F.batch_norm(x, self.mean.clone(), self.variance.clone(), self.gamma, self.beta, training, 0, EPSILON)
        return y.permute(0, 2, 3, 1)

    def move(self):
        self.mean = MOMENTUM * self.mean + (1 - MOMENTUM) * self.batch[0]
        self.variance = MOMENTUM * self.variance + (1 - MOMENTUM) * self.batch[1]


def conv(x, w):
    return F.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), None, 1, 1).permute(0, 2, 3, 1)


def batch_norm():
    c = Case("batch_norm")
    x, y = tensor((5, 6, 5, 3), 41) * 2 + 3, torch.tensor([0, 2, 1, 1, 2])  # a mean that is not 0
    w1 = c.param((3, 3, 3, 16), .3)
    first = Norm(c, 16)
    w2 = c.param((3, 3, 16, 5), .2)
    second = Norm(c, 5)
    w, b = c.param((150, 3), .3), c.param((3,), .1)

    def loss(training=True):
        h = F.relu(first(conv(x, w1), training))
        h = second(conv(h, w2), training)
        return F.cross_entropy(h.reshape(5, 150) @ w + b, y)

    def after(step):
        for n in (first, second):
            n.move()
        if step == 1:
            for i, t in enumerate((first.mean, first.variance, second.mean, second.variance)):
                c.write("moving%d" % i, t)
            c.write("evaluated0", loss(False).reshape(1))
    c.train(loss, after)


def layer_norm():
    c = Case("layer_norm")
    x, y = tensor((4, 7, 6), 42) * 2 - 1, torch.tensor([0, 2, 1, 1])
    w1, b1 = c.param((6, 19), .5), c.param((19,), .2)
    gamma, beta = c.param((19,), 1.5), c.param((19,), .4)
    g2 = c.param((133,), 1.5)
    w, b = c.param((133, 3), .3), c.param((3,), .1)

    def loss():
        h = torch.tanh(F.layer_norm(x @ w1 + b1, (19,), gamma, beta, EPSILON))
        h = F.layer_norm(h.reshape(4, 133), (133,), g2, None, 1e-5)
        return F.cross_entropy(h @ w + b, y)
    c.train(loss, lambda step: None)


batch_norm()
layer_norm()
