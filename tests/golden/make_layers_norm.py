#!/usr/bin/python3
"""Makes tests/golden/layers/{batch_norm,layer_norm}.txt with PyTorch 1.13: losses, gradients, moving statistics.

Run by hand when a case is added (Debian: python3-torch). Tests only read the text files. The moving variance is that of
Keras' page, moving * momentum + var(batch) * (1 - momentum) with a variance divided by the number of values; PyTorch's own
running variance divides by one less, so it is computed here from what PyTorch computes.
"""
import torch
import torch.nn.functional as F
from layers import Case, tensor

EPSILON, MOMENTUM = 1e-3, 0.9


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
    c.train(loss, lr=0.2, after=after)


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
    c.train(loss, lr=0.2)


batch_norm()
layer_norm()
