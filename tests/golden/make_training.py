#!/usr/bin/python3
"""Makes tests/golden/training/*.txt with PyTorch: losses, gradients and weights of small nets over a few steps.

Run by hand when a case is added (Debian: python3-torch). Tests only read the text files. Tensors are written in mgbench's
layouts: channels last, dense weights [in, out], convolution weights [height, width, in / groups, out].
"""
import os
import torch
import torch.nn.functional as F

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "training")


def formula(count, salt):
    """Multiplicative hash to [-1, 1), the same as golden_formula() in tests/support/golden.c."""
    k = torch.arange(count, dtype=torch.int64)
    bits = ((k + 1) * 2654435761 + salt * 40503) & 0xFFFFFFFF
    return ((bits >> 8).double() / 8388608.0 - 1.0).float()


def tensor(shape, salt, scale=1.0):
    count = 1
    for d in shape:
        count *= d
    return (formula(count, salt) * scale).reshape(shape)


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

    def train(self, loss_of, steps, optimizer, samples=None):
        for s in range(steps):
            optimizer.zero_grad()
            loss = loss_of()
            loss.backward()
            self.write("loss%d" % s, loss.reshape(1))
            if s == 0:
                for i, p in enumerate(self.params):
                    g = p.grad.flatten()
                    self.write("grad%d" % i, g[::samples] if samples else g)
            optimizer.step()
        for i, p in enumerate(self.params):
            w = p.flatten()
            self.write("weight%d" % i, w[::samples] if samples else w)
        with open(os.path.join(HERE, self.name + ".txt"), "w") as f:
            f.write("\n".join(self.lines) + "\n")


def conv(x, w, b, stride=1, pad=(0, 0, 0, 0), dilation=1, groups=1):
    """x: NHWC, w: HWIO, pad: top, bottom, left, right; returns NHWC."""
    x = F.pad(x.permute(0, 3, 1, 2), (pad[2], pad[3], pad[0], pad[1]))
    y = F.conv2d(x, w.permute(3, 2, 0, 1), b, stride, 0, dilation, groups)
    return y.permute(0, 2, 3, 1)


def max_pool(x, size, stride):
    return F.max_pool2d(x.permute(0, 3, 1, 2), size, stride).permute(0, 2, 3, 1)


def avg_pool(x, size, stride, pad=0):
    return F.avg_pool2d(x.permute(0, 3, 1, 2), size, stride, pad, count_include_pad=False).permute(0, 2, 3, 1)


def sgd(case, lr=0.1, **kw):
    return torch.optim.SGD(case.params, lr=lr, **kw)


def mlp(name, optimizer, steps=3):
    c = Case(name)
    x, y = tensor((5, 7), 1), torch.tensor([0, 2, 1, 2, 0])
    w1, b1, w2, b2 = c.param((7, 6), .5), c.param((6,), .1), c.param((6, 3), .5), c.param((3,), .1)
    c.train(lambda: F.cross_entropy(F.relu(x @ w1 + b1) @ w2 + b2, y), steps, optimizer(c))


def main():
    os.makedirs(HERE, exist_ok=True)
    mlp("mlp_sgd", sgd)
    mlp("mlp_momentum", lambda c: sgd(c, momentum=0.9))
    mlp("mlp_nesterov", lambda c: sgd(c, momentum=0.9, nesterov=True))
    mlp("mlp_rmsprop", lambda c: torch.optim.RMSprop(c.params, lr=0.01, alpha=0.9, eps=1e-7))
    mlp("mlp_adagrad", lambda c: torch.optim.Adagrad(c.params, lr=0.05, eps=1e-7))
    mlp("mlp_adadelta", lambda c: torch.optim.Adadelta(c.params, lr=1.0, rho=0.95, eps=1e-6))
    mlp("mlp_adam", lambda c: torch.optim.Adam(c.params, lr=0.01, eps=1e-12))

    c = Case("conv_pool")  # valid convolution, relu, max pool, dense
    x, y = tensor((4, 9, 8, 3), 2), torch.tensor([1, 0, 3, 2])
    w1, b1 = c.param((3, 3, 3, 8), .3), c.param((8,), .1)
    w2, b2 = c.param((3 * 3 * 8, 4), .2), c.param((4,), .1)
    c.train(lambda: F.cross_entropy(
        max_pool(F.relu(conv(x, w1, b1)), 2, 2).reshape(4, -1) @ w2 + b2, y), 2, sgd(c))

    c = Case("conv_same")  # stride 2 "same" on an even size: pads 0 above, 1 below; average pool; mse
    x, t = tensor((3, 8, 8, 2), 3), tensor((3, 5), 4)
    w0, b0 = c.param((3, 3, 2, 4), .4), c.param((4,), .1)
    w1, b1 = c.param((3, 3, 4, 6), .3), c.param((6,), .1)
    w2, b2 = c.param((2 * 2 * 6, 5), .3), c.param((5,), .1)

    def same():
        h = torch.tanh(conv(x, w0, b0, 2, (0, 1, 0, 1)))
        h = torch.sigmoid(conv(h, w1, b1, 1, (1, 1, 1, 1)))
        return F.mse_loss(avg_pool(h, 2, 2).reshape(3, -1) @ w2 + b2, t)
    c.train(same, 2, sgd(c))

    c = Case("conv_groups")  # groups 2, dilation 2, explicit padding 2; padded average pool
    x, y = tensor((2, 7, 6, 4), 5), torch.tensor([2, 0])
    w0 = c.param((1, 1, 4, 4), .5)
    w1, b1 = c.param((3, 3, 2, 6), .3), c.param((6,), .1)
    w2, b2 = c.param((4 * 3 * 6, 3), .2), c.param((3,), .1)
    c.train(lambda: F.cross_entropy(avg_pool(
        F.relu(conv(conv(x, w0, None), w1, b1, 1, (2, 2, 2, 2), 2, 2)), 3, 2, 1)
        .reshape(2, -1) @ w2 + b2, y), 2, sgd(c))

    c = Case("siamese")  # two inputs, a shared dense layer, add and concat, two losses (1 and 0.5)
    a, b = tensor((6, 4), 6), tensor((6, 4), 7)
    y, t = torch.tensor([0, 1, 1, 0, 2, 2]), tensor((6, 5), 8)
    ws, bs = c.param((4, 5), .5), c.param((5,), .1)
    w2, b2 = c.param((10, 3), .5), c.param((3,), .1)

    def siamese():
        p, q = torch.tanh(a @ ws + bs), torch.tanh(b @ ws + bs)
        return F.cross_entropy(torch.cat([p + q, p], 1) @ w2 + b2, y) + 0.5 * F.mse_loss(q, t)
    c.train(siamese, 2, sgd(c))

    c = Case("mnist_cnn")  # full size, no dropout, batch 8, every 997th element
    x, y = (tensor((8, 28, 28, 1), 9) + 1) / 2, torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])
    w1, b1 = c.param((3, 3, 1, 32), .3), c.param((32,), .1)
    w2, b2 = c.param((3, 3, 32, 64), .08), c.param((64,), .1)
    w3, b3 = c.param((9216, 128), .02), c.param((128,), .1)
    w4, b4 = c.param((128, 10), .1), c.param((10,), .1)

    def mnist():
        h = max_pool(F.relu(conv(F.relu(conv(x, w1, b1)), w2, b2)), 2, 2)
        return F.cross_entropy(F.relu(h.reshape(8, -1) @ w3 + b3) @ w4 + b4, y)
    c.train(mnist, 2, sgd(c, lr=0.05), samples=997)


main()
