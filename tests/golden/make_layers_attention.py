#!/usr/bin/python3
"""Makes tests/golden/layers/*.txt of attention, products of matrices, gelu and tied weights with PyTorch 1.13: losses and gradients.

Run by hand when a case is added (Debian: python3-torch). Tests only read the text files.
"""
import math
import torch
import torch.nn.functional as F
from layers import Case, tensor


def multi_head():
    """What nn.MultiheadAttention computes, causal, keys padded at the end; without a bias of the keys, whose gradient is 0."""
    c = Case("attention_multi_head")
    x, y = tensor((4, 7, 12), 21), torch.tensor([0, 2, 1, 2])
    mask = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 0]])
    wq, bq, wk = c.param((12, 12), .4), c.param((12,), .1), c.param((12, 12), .4)
    wv, bv, wo, bo = c.param((12, 12), .4), c.param((12,), .1), c.param((12, 12), .4), c.param((12,), .1)
    w, b = c.param((84, 3), .3), c.param((3,), .1)

    def loss():
        h, _ = F.multi_head_attention_forward(
            x.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1), 12, 3,
            torch.cat([wq.t(), wk.t(), wv.t()]), torch.cat([bq, torch.zeros(12), bv]), None, None, False, 0.0, wo.t(),
            bo, key_padding_mask=mask == 0, need_weights=False,
            attn_mask=torch.triu(torch.ones(7, 7, dtype=torch.bool), 1))
        return F.cross_entropy(h.transpose(0, 1).reshape(4, 84) @ w + b, y)
    c.train(loss)


def scaled_dot_product():
    """By hand: 5 queries, 6 keys, values of another size, one example without a key."""
    c = Case("attention_dot_product")
    a, m, y = tensor((3, 5, 4), 22), tensor((3, 6, 3), 23), torch.tensor([1, 0, 1])
    mask = torch.tensor([[1, 0, 1, 1, 0, 1], [0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]])
    wq, wk, wv = c.param((4, 8), .7), c.param((3, 8), .7), c.param((3, 2), .7)
    w, b = c.param((10, 2), .5), c.param((2,), .1)

    def loss():
        e = torch.exp((a @ wq) @ (m @ wk).transpose(1, 2) / math.sqrt(8)) * mask[:, None, :]
        p = e / e.sum(-1, keepdim=True).clamp(min=1e-30)
        return F.cross_entropy((p @ (m @ wv)).reshape(3, 10) @ w + b, y)
    c.train(loss)


def gelu():
    c = Case("gelu")
    x, y = tensor((6, 5), 24, 3), torch.tensor([0, 1, 2, 0, 1, 2])
    w0, b0, w1, b1 = c.param((5, 9), .8), c.param((9,), .2), c.param((9, 8), .8), c.param((8,), .2)
    w2, b2 = c.param((8, 3), .5), c.param((3,), .1)
    c.train(lambda: F.cross_entropy(
        F.gelu(F.gelu(x @ w0 + b0) @ w1 + b1, approximate="tanh") @ w2 + b2, y))


def matrices():
    """relu6, softmax, log_softmax, products and a transpose."""
    c = Case("matrices")
    x, y = tensor((3, 4, 5), 25, 4), torch.tensor([0, 2, 1])
    w0, b0, w1 = c.param((5, 6), 1.5), c.param((6,), .2), c.param((5, 6), .1)
    w2, b2 = c.param((24, 3), .4), c.param((3,), .1)

    def loss():
        a, b = F.relu6(x @ w0 + b0), torch.log_softmax(x @ w1, -1)
        s = torch.softmax(a @ b.transpose(1, 2), -1)
        h = (s.transpose(1, 2) @ b).transpose(1, 2)
        return F.cross_entropy(h.reshape(3, 24) @ w2 + b2, y)
    c.train(loss, lr=0.1)


def tied():
    """An embedding whose table is the output's kernel too, as in GPT-2."""
    c = Case("tied_embedding")
    ids = torch.tensor([[1, 4, 4, 0], [6, 2, 1, 1]])
    y = torch.tensor([[4, 4, 0, 3], [2, 1, 1, 5]])
    table, w, b, bias = c.param((7, 5), .6), c.param((5, 5), .6), c.param((5,), .1), c.param((7,), .1)
    c.train(lambda: F.cross_entropy(
        (torch.tanh(F.embedding(ids, table) @ w + b) @ table.t() + bias).reshape(8, 7), y.reshape(8)))


multi_head()
scaled_dot_product()
gelu()
matrices()
tied()
