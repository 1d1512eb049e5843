#!/usr/bin/python3
"""Makes tests/golden/models/{siamese,two_in_two_out,nested,positions,mnist_cnn,digits_cnn,mlp}.txt with PyTorch 1.13 in double:
small nets whose parts are shared, joined, one within the other or at every position, and the three plain ones, without dropout.

Run by hand when a case is added. Weights are made in the order in which the models of scripts/models make them.
"""
import torch
import torch.nn.functional as F
from models import Golden

torch.set_default_dtype(torch.float64)


class Dense:
    def __init__(self, golden, inputs, units):
        self.w = torch.empty(inputs, units, requires_grad=True)
        self.b = torch.empty(units, requires_grad=True)
        golden.variable(self.w, "kernel", (inputs, units), lambda t: t)
        golden.variable(self.b, "bias", (units,), lambda t: t)

    def __call__(self, x):
        return x @ self.w + self.b


def finish(golden, output_of, loss_of, lr=0.1):
    with torch.no_grad():
        golden.write("outputs", output_of().reshape(-1).tolist())
    golden.train(loss_of, lr)
    golden.save()


def siamese():
    g = Golden("siamese", 1.0)
    a, b, target = g.input(6, (16,)), g.input(6, (16,)), g.input(6, (4,))
    inner, outer = Dense(g, 16, 8), Dense(g, 8, 4)

    def both():
        return outer(torch.tanh(inner(a))) + outer(torch.tanh(inner(b)))
    finish(g, both, lambda: F.mse_loss(both(), target))


def two_in_two_out():
    g = Golden("two_in_two_out", 1.0)
    wide, narrow, target, label = g.input(6, (10,)), g.input(6, (5,)), g.input(6, (1,)), g.input(6, (), 2)
    first, second, value, logits = Dense(g, 10, 8), Dense(g, 5, 8), Dense(g, 16, 1), Dense(g, 16, 2)

    def both():
        return torch.cat([F.relu(first(wide)), F.relu(second(narrow))], 1)
    finish(g, lambda: value(both()),
           lambda: F.mse_loss(value(both()), target) + 0.4 * F.cross_entropy(logits(both()), label))


def nested():
    g = Golden("nested", 1.0)
    x, label = g.input(6, (12,)), g.input(6, (), 3)
    block, logits = Dense(g, 12, 12), Dense(g, 12, 3)

    def net():
        y = x
        for _ in range(2):
            y = y + F.relu(block(y))
        return logits(y)
    finish(g, net, lambda: F.cross_entropy(net(), label))


def convolution(g, inputs, filters):
    w, b = torch.empty(filters, inputs, 3, 3, requires_grad=True), torch.empty(filters, requires_grad=True)
    g.variable(w, "kernel", (3, 3, inputs, filters), lambda t: t.permute(3, 2, 0, 1))
    g.variable(b, "bias", (filters,), lambda t: t)
    return w, b


def positions():
    """A convolution, a model of two layers and a dense layer, each at all four positions: these are rows to PyTorch."""
    g = Golden("positions", 1.0)
    x, label = g.input(5, (4, 6, 5, 2)), g.input(5, (), 3)
    w, b = convolution(g, 2, 3)
    inner, outer, narrow, logits = Dense(g, 36, 8), Dense(g, 8, 7), Dense(g, 7, 2), Dense(g, 8, 3)

    def net():
        y = F.relu(F.conv2d(x.reshape(20, 6, 5, 2).permute(0, 3, 1, 2), w, b)).permute(0, 2, 3, 1).reshape(20, 36)
        return logits(narrow(outer(torch.tanh(inner(y)))).reshape(5, 8))
    finish(g, net, lambda: F.cross_entropy(net(), label))


def plain(g, image, layers, lr):
    """A classifier that calls `layers` one after the other; convolutions have channels second."""
    label = g.input(len(image), (), 10)

    def net():
        x = image
        for layer in layers:
            x = layer(x)
        return x
    finish(g, net, lambda: F.cross_entropy(net(), label), lr)


def convolved(g, inputs, filters, padding):
    w, b = convolution(g, inputs, filters)
    return lambda x: F.relu(F.conv2d(x, w, b, padding=padding))


def pooled(x):
    return F.max_pool2d(x, 2)


def flat(x):
    return x.permute(0, 2, 3, 1).reshape(len(x), -1)


def mnist_cnn():
    g = Golden("mnist_cnn")
    image = g.input(4, (28, 28, 1)).permute(0, 3, 1, 2)
    plain(g, image, [convolved(g, 1, 32, 0), convolved(g, 32, 64, 0), pooled, flat, Dense(g, 9216, 128), F.relu,
                     Dense(g, 128, 10)], 0.001)


def digits_cnn():
    g = Golden("digits_cnn")
    image = g.input(6, (8, 8, 1)).permute(0, 3, 1, 2)
    plain(g, image, [convolved(g, 1, 16, 1), pooled, convolved(g, 16, 32, 1), flat, Dense(g, 512, 10)], 0.05)


def mlp():
    g = Golden("mlp")
    image = g.input(6, (28, 28, 1)).reshape(6, -1)
    plain(g, image, [Dense(g, 784, 128), F.relu, Dense(g, 128, 128), F.relu, Dense(g, 128, 10)], 0.05)


siamese()
two_in_two_out()
nested()
positions()
mnist_cnn()
digits_cnn()
mlp()
