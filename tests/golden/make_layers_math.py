#!/usr/bin/python3
"""Makes tests/golden/layers/*.txt of arithmetic, reductions, cuts, depthwise convolutions and penalties with PyTorch 1.13:
losses and gradients.

Run by hand when a case is added (Debian: python3-torch). Tests only read the text files.
"""
import os
import torch
import torch.nn.functional as F
from layers import Case, tensor


def conv(x, w, b=None, stride=1, pad=0, groups=1, dilation=1):
    """x: NHWC, w: HWIO; returns NHWC."""
    y = F.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), b, stride, pad, dilation, groups)
    return y.permute(0, 2, 3, 1)


def arithmetic():
    """Broadcasting in every direction, numbers, parameters."""
    c = Case("arithmetic")
    x, v, y = tensor((4, 3, 5), 31), tensor((4, 6), 32), torch.tensor([0, 2, 1, 1])
    w, b, g, gb = c.param((5, 7), .6), c.param((7,), .2), c.param((6, 7), .6), c.param((7,), .2)
    h, hb, row, scale = c.param((6, 3), .6), c.param((3,), .2), c.param((3, 1), .5), c.param((3, 7), 1)
    wo, bo = c.param((21, 3), .4), c.param((3,), .1)

    def loss():
        a, s = torch.tanh(x @ w + b), torch.sigmoid(v @ g + gb)
        t = torch.sigmoid(v @ h + hb)
        z = a * s[:, None, :] + row
        z = (1 - z) / (t[:, :, None] + 1.5) - 0.5 * a
        z = (scale * z).abs() * a
        return F.cross_entropy(z.reshape(4, 21) @ wo + bo, y)
    c.train(loss)


def reductions():
    c = Case("reductions")
    x, y = tensor((3, 4, 6), 33), torch.tensor([1, 0, 2])
    w, b, wo, bo = c.param((6, 9), .8), c.param((9,), .2), c.param((4 + 9 + 9 + 1, 3), .5), c.param((3,), .1)

    def loss():
        a = torch.tanh(x @ w + b)
        a = a - a.mean(-1, keepdim=True)
        parts = [a.max(2)[0], a.sum(1), a.max(1)[0], (a * a).mean((1, 2), keepdim=False)[:, None]]
        return F.cross_entropy(torch.cat(parts, 1) @ wo + bo, y)
    c.train(loss)


def cuts():
    """pad2d, slice of every axis, a class token joined to each example, a padded average that counts zeros."""
    c = Case("cuts")
    x, y = tensor((3, 6, 5, 4), 34), torch.tensor([1, 0, 2])
    w, b, token = c.param((3, 3, 4, 8), .3), c.param((8,), .1), c.param((1, 6), .5)
    wo, bo = c.param((8 * 3 + 6, 3), .4), c.param((3,), .1)

    def loss():
        a = torch.tanh(conv(F.pad(x, (0, 0, 2, 0, 0, 1)), w, b))  # 5 x 5 x 8
        a = a[:, 1:, :4, 2:8]
        a = F.avg_pool2d(a.permute(0, 3, 1, 2), 3, 2, 1).permute(0, 2, 3, 1)  # 2 x 2 x 6
        a = torch.cat([token.expand(3, 1, 6), a.reshape(3, 4, 6)], 1)
        return F.cross_entropy(a.reshape(3, 30) @ wo + bo, y)
    c.train(loss)


def depthwise():
    """Depthwise with multiplier 2 and stride 2, separable, a global average, He et al.'s paddings 3 and 1."""
    c = Case("depthwise")
    x, y = tensor((2, 13, 12, 3), 35), torch.tensor([1, 2])
    w0, b0 = c.param((7, 7, 3, 8), .1), c.param((8,), .1)
    w1, b1 = c.param((3, 3, 1, 16), .4), c.param((16,), .1)
    w2, w3, b3 = c.param((3, 3, 1, 16), .4), c.param((1, 1, 16, 10), .4), c.param((10,), .1)
    wo, bo = c.param((10, 3), .6), c.param((3,), .1)

    def loss():
        a = F.relu(conv(x, w0, b0, 2, 3))
        a = F.max_pool2d(a.permute(0, 3, 1, 2), 3, 1, 1).permute(0, 2, 3, 1)
        a = torch.tanh(conv(a, w1, b1, 2, 1, 8))
        a = torch.sigmoid(conv(conv(a, w2, None, 1, 1, 16), w3, b3))
        return F.cross_entropy(a.mean((1, 2)) @ wo + bo, y)
    c.train(loss)


def penalty():
    """Binary cross-entropy of logits and 0.3 * 0.1 * (sum of squares) of the kernels."""
    c = Case("penalty")
    x, t = tensor((5, 4), 36, 2), (tensor((5, 3), 37) + 1) / 2
    w, b, wo, bo = c.param((4, 6), .8), c.param((6,), .2), c.param((6, 3), .8), c.param((3,), .2)
    c.train(lambda: F.binary_cross_entropy_with_logits(torch.tanh(x @ w + b) @ wo + bo, t) +
            0.3 * 0.1 * ((w * w).sum() + (wo * wo).sum()))


arithmetic()
reductions()
cuts()
depthwise()
penalty()
