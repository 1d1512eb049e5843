#!/usr/bin/python3
"""Makes tests/golden/layers/*.txt of embedding, lstm and gru with PyTorch 1.13: losses and gradients.

Run by hand when a case is added (Debian: python3-torch). Tests only read the text files. Weights are in mgbench's layouts:
[in, gates * units], gates i, f, g, o (as PyTorch's) and z, r, h (PyTorch's are r, z, n).
"""
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence
from layers import Case, tensor


class RecurrentCase(Case):
    def recurrent(self, width, units, gates, biases=1):
        kernel, inner = self.param((width, gates * units), .6), self.param((units, gates * units), .5)
        shape = (gates * units,) if biases == 1 else (2, gates * units)
        return kernel, inner, self.param(shape, .3)


def run(kind, x, weights, state):
    """torch.nn.LSTM or GRU, one layer, `weights` as (input, recurrent, bias, bias) a direction; x padded or packed."""
    width = x.data.shape[-1]
    net = kind(width, weights[0][1].shape[1], batch_first=True, bidirectional=len(weights) == 2)
    net._flat_weights = [w for four in weights for w in four]  # in place of its own, so that gradients lead to ours
    return net(x, state)


def lstm_weights(kernel, inner, bias):
    return kernel.t(), inner.t(), bias, torch.zeros_like(bias)


def gru_weights(kernel, inner, bias):
    n = inner.shape[0]

    def turn(w):  # z, r, h to r, z, n
        return torch.cat([w[..., n:2 * n], w[..., :n], w[..., 2 * n:]], -1)
    return turn(kernel).t(), turn(inner).t(), turn(bias[0]), turn(bias[1])


def packed(x, lengths):
    return pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)


def lstm_words():
    """Words, padded with 0, through torch.nn.LSTM packed, with an initial state: the last state."""
    c = RecurrentCase("lstm_words")
    ids = torch.tensor([[3, 1, 6, 2, 5], [4, 4, 1, 0, 0], [6, 0, 0, 0, 0], [2, 5, 5, 1, 0]])
    h, s, y = tensor((4, 9), 31), tensor((4, 9), 32), torch.tensor([0, 2, 1, 1])
    table, weights = c.param((7, 6), .8), c.recurrent(6, 9, 4)
    w, b = c.param((9, 3), .5), c.param((3,), .1)

    def loss():
        x = packed(F.embedding(ids, table), [5, 3, 1, 4])
        _, (last, _) = run(torch.nn.LSTM, x, [lstm_weights(*weights)], (h[None], s[None]))
        return F.cross_entropy(last[0] @ w + b, y)
    c.train(loss)


def bilstm():
    """Two layers of bidirectional torch.nn.LSTM packed: sequences, then the last states of both directions."""
    c = RecurrentCase("bilstm")
    x, y, lengths = tensor((3, 6, 4), 33), torch.tensor([1, 0, 2]), [4, 6, 2]
    f1, b1 = c.recurrent(4, 5, 4), c.recurrent(4, 5, 4)
    f2, b2 = c.recurrent(10, 3, 4), c.recurrent(10, 3, 4)
    w, b = c.param((6, 3), .9), c.param((3,), .1)

    def loss():
        first, _ = run(torch.nn.LSTM, packed(x, lengths), [lstm_weights(*f1), lstm_weights(*b1)], None)
        _, (last, _) = run(torch.nn.LSTM, first, [lstm_weights(*f2), lstm_weights(*b2)], None)
        return F.cross_entropy(torch.cat([last[0], last[1]], 1) @ w + b, y)
    c.train(loss)


def lstm_states():
    """All states of torch.nn.LSTM and the last cell state, from a state that is learned."""
    c = RecurrentCase("lstm_states")
    x, side, y = tensor((4, 5, 3), 34), tensor((4, 2), 35), torch.tensor([0, 1, 1, 0])
    wh, bh, wc, bc = c.param((2, 8), .7), c.param((8,), .1), c.param((2, 8), .7), c.param((8,), .1)
    weights = c.recurrent(3, 8, 4)
    w, b = c.param((48, 2), .4), c.param((2,), .1)

    def loss():
        state = torch.tanh(side @ wh + bh)[None], torch.tanh(side @ wc + bc)[None]
        out, (_, s) = run(torch.nn.LSTM, x, [lstm_weights(*weights)], state)
        return F.cross_entropy(torch.cat([out.flatten(1), s[0]], 1) @ w + b, y)
    c.train(loss)


def gru():
    """Two layers of torch.nn.GRU, both directions, packed; then one more over all positions, from a state."""
    c = RecurrentCase("gru")
    x, y, lengths = tensor((4, 6, 5), 36), torch.tensor([2, 0, 1, 1]), [6, 3, 5, 1]
    h = tensor((4, 6), 37)
    f, r, last = c.recurrent(5, 4, 3, 2), c.recurrent(5, 4, 3, 2), c.recurrent(8, 6, 3, 2)
    w, b = c.param((6, 3), .7), c.param((3,), .1)

    def loss():
        both, _ = run(torch.nn.GRU, packed(x, lengths), [gru_weights(*f), gru_weights(*r)], None)
        _, end = run(torch.nn.GRU, both, [gru_weights(*last)], h[None])
        return F.cross_entropy(end[0] @ w + b, y)
    c.train(loss)


def gru_before():
    """The reset gate before the product, by hand (PyTorch has no such layer)."""
    c = RecurrentCase("gru_before")
    x, y = tensor((5, 4, 3), 38), torch.tensor([0, 1, 2, 1, 0])
    kernel, inner, bias = c.recurrent(3, 7, 3)
    w, b = c.param((28, 3), .5), c.param((3,), .1)

    def loss():
        h, states = torch.zeros(5, 7), []
        for t in range(4):
            a = x[:, t] @ kernel + bias
            z, r = torch.sigmoid(a[:, :7] + h @ inner[:, :7]), torch.sigmoid(a[:, 7:14] + h @ inner[:, 7:14])
            h = z * h + (1 - z) * torch.tanh(a[:, 14:] + (r * h) @ inner[:, 14:])
            states.append(h)
        return F.cross_entropy(torch.stack(states, 1).flatten(1) @ w + b, y)
    c.train(loss)


lstm_words()
bilstm()
lstm_states()
gru()
gru_before()
