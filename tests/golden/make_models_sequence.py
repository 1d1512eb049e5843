#!/usr/bin/python3
"""Makes tests/golden/models/*.txt of the models of sequences with PyTorch 1.13 and torchvision 0.14, in double.

Run by hand when a case is added, with names of cases or none for all. torch.nn.LSTM, torch.nn.MultiheadAttention and
torchvision's VisionTransformer do the work; where they keep several variables in one tensor, the parts are views of it.
"""
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrize
from torchvision.models.vision_transformer import VisionTransformer
from models import Golden

torch.set_default_dtype(torch.float64)


def same(t):
    return t


def turned(t):
    return t.t()


class Stacked(nn.Module):
    """A tensor that is several, one below the other, each a parameter of its own."""

    def forward(self, *parts):
        return torch.cat(parts, 0)

    def right_inverse(self, whole):
        return list(whole.chunk(self.count, 0))


def stack(module, name, count):
    """Replaces a parameter by `count` ones and returns them."""
    stacked = Stacked()
    stacked.count = count
    parametrize.register_parametrization(module, name, stacked, unsafe=True)
    held = module.parametrizations[name]
    return [getattr(held, "original%d" % i) for i in range(count)]


def dense(golden, m):
    golden.variable(m.weight, "kernel", (m.in_features, m.out_features), turned)
    if m.bias is not None:
        golden.variable(m.bias, "bias", (m.out_features,), same)


def norm(golden, m):
    golden.variable(m.weight, "gamma", m.weight.shape, same)
    golden.variable(m.bias, "beta", m.bias.shape, same)


def lstm(golden, m, suffix=""):
    """PyTorch adds a second bias to the first; it is zero and stays so."""
    part = {p: getattr(m, p + "_l0" + suffix) for p in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
    golden.variable(part["weight_ih"], "kernel", part["weight_ih"].shape[::-1], turned)
    golden.variable(part["weight_hh"], "recurrent_kernel", part["weight_hh"].shape[::-1], turned)
    golden.variable(part["bias_ih"], "bias", part["bias_ih"].shape, same)
    nn.init.zeros_(part["bias_hh"])
    part["bias_hh"].requires_grad_(False)
    if m.proj_size:
        golden.variable(getattr(m, "weight_hr_l0" + suffix), "projection_kernel", (m.hidden_size, m.proj_size), turned)


def both_ways(golden, m):
    lstm(golden, m)
    lstm(golden, m, "_reverse")


def attention(golden, m):
    width = m.embed_dim
    weights, biases = stack(m, "in_proj_weight", 3), stack(m, "in_proj_bias", 3)
    for w, b in zip(weights, biases):
        golden.variable(w, "kernel", (width, width), turned)
        golden.variable(b, "bias", (width,), same)
    dense(golden, m.out_proj)


def cross_entropy(y, label):
    """The mean over examples and positions."""
    return F.cross_entropy(y.flatten(0, -2), label.flatten())


class LstmLm(nn.Module):
    def __init__(self, vocabulary, embedding, units, projection):
        super().__init__()
        self.words, self.lstm = nn.Embedding(vocabulary, embedding), nn.LSTM(embedding, units, batch_first=True,
                                                                             proj_size=projection)
        self.logits = nn.Linear(projection or units, vocabulary)

    def fill(self, golden):
        golden.variable(self.words.weight, "embeddings", self.words.weight.shape, same)
        lstm(golden, self.lstm)
        dense(golden, self.logits)

    def forward(self, ids):
        return self.logits(self.lstm(self.words(ids))[0])


class Block(nn.Module):
    """One of GPT-2: norms before, not behind."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-5), nn.LayerNorm(width, 1e-5)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def fill(self, golden):
        norm(golden, self.norm1)
        attention(golden, self.attention)
        norm(golden, self.norm2)
        dense(golden, self.up)
        dense(golden, self.down)

    def forward(self, x):
        y, length = self.norm1(x), x.shape[1]
        unseen = torch.ones(length, length, dtype=torch.bool).triu(1)
        x = x + self.attention(y, y, y, attn_mask=unseen, need_weights=False)[0]
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, vocabulary, context, layers, width, heads):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocabulary, width), nn.Parameter(torch.empty(context, width))
        self.blocks, self.norm = nn.ModuleList(Block(width, heads) for _ in range(layers)), nn.LayerNorm(width, 1e-5)

    def fill(self, golden):
        golden.variable(self.words.weight, "embeddings", self.words.weight.shape, same)
        golden.variable(self.positions, "value", self.positions.shape, same)
        for block in self.blocks:
            block.fill(golden)
        norm(golden, self.norm)

    def forward(self, ids):
        x = self.words(ids) + self.positions[:ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.words.weight.t()


class Vit(nn.Module):
    def __init__(self, image, patch, layers, width, heads, mlp, classes):
        super().__init__()
        self.net = VisionTransformer(image, patch, layers, heads, width, mlp, num_classes=classes)

    def fill(self, golden):
        net = self.net
        o, i, h, w = net.conv_proj.weight.shape
        golden.variable(net.conv_proj.weight, "kernel", (h, w, i, o), lambda t: t.permute(3, 2, 0, 1))
        golden.variable(net.conv_proj.bias, "bias", (o,), same)
        golden.variable(net.class_token, "value", (1, o), lambda t: t.reshape(1, 1, o))
        positions = net.encoder.pos_embedding
        golden.variable(positions, "value", positions.shape[1:], lambda t: t.reshape(positions.shape))
        for block in net.encoder.layers:
            norm(golden, block.ln_1)
            attention(golden, block.self_attention)
            norm(golden, block.ln_2)
            for m in block.mlp:
                if isinstance(m, nn.Linear):
                    dense(golden, m)
        norm(golden, net.encoder.ln)
        dense(golden, net.heads.head)

    def forward(self, image):
        return self.net(image.permute(0, 3, 1, 2))


class Esim(nn.Module):
    """One pair at a time, without padding and so without masks: what a batch of padded sentences has to equal."""

    def __init__(self, vocabulary, embedding, units, lm_layers=0, lm_units=0, lm_projection=0):
        super().__init__()
        self.words = nn.Embedding(vocabulary, embedding).requires_grad_(False)
        self.lm_words = nn.Embedding(vocabulary, lm_projection) if lm_layers else None
        self.lm = nn.ModuleList(nn.LSTM(lm_projection, lm_units, batch_first=True, proj_size=lm_projection)
                                for _ in range(lm_layers))
        for p in (list(self.lm_words.parameters()) if lm_layers else []) + list(self.lm.parameters()):
            p.requires_grad_(False)
        self.read = nn.LSTM(embedding + (lm_projection if lm_layers else 0), units, batch_first=True, bidirectional=True)
        self.compose = nn.LSTM(units, units, batch_first=True, bidirectional=True)
        self.project, self.dense = nn.Linear(8 * units, units), nn.Linear(8 * units, units)
        self.logits = nn.Linear(units, 3)

    def fill(self, golden):
        golden.variable(self.words.weight, "embeddings", self.words.weight.shape, same)
        if self.lm_words:
            golden.variable(self.lm_words.weight, "embeddings", self.lm_words.weight.shape, same)
        for m in self.lm:
            lstm(golden, m)
        both_ways(golden, self.read)
        dense(golden, self.project)
        both_ways(golden, self.compose)
        dense(golden, self.dense)
        dense(golden, self.logits)

    def encode(self, ids):
        x = self.words(ids)
        if self.lm_words:
            y = self.lm_words(ids)
            for m in self.lm:
                y = m(y)[0]
            x = torch.cat([x, y], -1)
        return self.read(x)[0]

    def pair(self, premise, hypothesis):
        a, b = self.encode(premise[premise != 0][None]), self.encode(hypothesis[hypothesis != 0][None])
        scores = a @ b.transpose(1, 2)
        a_like, b_like = scores.softmax(-1) @ b, scores.transpose(1, 2).softmax(-1) @ a
        pooled = []
        for x, like in (a, a_like), (b, b_like):
            y = self.compose(F.relu(self.project(torch.cat([x, like, x - like, x * like], -1))))[0]
            pooled += [y.mean(1), y.max(1)[0]]
        return self.logits(torch.tanh(self.dense(torch.cat(pooled, -1))))

    def forward(self, premise, hypothesis):
        return torch.cat([self.pair(a, b) for a, b in zip(premise, hypothesis)])


class Peer(nn.Module):
    """The net of tests/bench/models' PyTorch side."""

    def __init__(self, vocabulary, embedding, units, hidden):
        super().__init__()
        self.words = nn.Embedding(vocabulary, embedding)
        self.read = nn.LSTM(embedding, units, batch_first=True, bidirectional=True)
        self.dense1, self.dense2, self.logits = nn.Linear(8 * units, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 3)

    def fill(self, golden):
        golden.variable(self.words.weight, "embeddings", self.words.weight.shape, same)
        both_ways(golden, self.read)
        for m in self.dense1, self.dense2, self.logits:
            dense(golden, m)

    def forward(self, premise, hypothesis):
        a, b = (self.read(self.words(ids))[0].max(1)[0] for ids in (premise, hypothesis))
        x = torch.cat([a, b, (a - b).abs(), a * b], 1)
        return self.logits(F.relu(self.dense2(F.relu(self.dense1(x)))))


class RnnState(nn.Module):
    def __init__(self, width, units):
        super().__init__()
        self.lstm, self.value = nn.LSTM(width, units, batch_first=True), nn.Linear(units, 1)

    def fill(self, golden):
        lstm(golden, self.lstm)
        dense(golden, self.value)

    def forward(self, x, h, c):
        return self.value(self.lstm(x, (h[None], c[None]))[1][0][0])


def case(name, net, inputs, rate, loss=cross_entropy, train=True, gain=1.0):
    """`inputs`: rows, and shape and classes of each; the last is what the loss compares with."""
    golden = Golden(name, gain)
    rows, *described = inputs
    *x, label = [golden.input(rows, shape, classes) for shape, classes in described]
    net.fill(golden)
    net.eval()  # there is no dropout in training either
    with torch.no_grad():
        outputs = net(*x).reshape(-1)
        taken = min(outputs.numel(), 4000)
        golden.write("outputs", [outputs[i * outputs.numel() // taken].item() for i in range(taken)])
    if train:
        golden.train(lambda: loss(net(*x), label), rate)
    golden.save()


def words(rows, length, classes, count=1):
    return [rows] + [((length,), classes)] * count


CASES = {
    "lstm_lm_small": lambda n: case(n, LstmLm(50, 12, 16, 0), words(5, 7, 50, 2), 0.5, gain=1.7),
    "lstm_lm_projection": lambda n: case(n, LstmLm(50, 12, 16, 5), words(5, 7, 50, 2), 0.5, gain=1.7),
    "gpt2_small": lambda n: case(n, Gpt2(60, 12, 2, 16, 2), words(5, 9, 60, 2), 0.05),
    "vit_b16_small": lambda n: case(n, Vit(12, 4, 2, 16, 2, 24, 10), [5, ((12, 12, 3), 0), ((), 10)], 0.05),
    # 7 classes of words: every seventh is number 0, padding
    "snli_bilstm_small": lambda n: case(n, Esim(40, 8, 6), words(5, 7, 7, 2) + [((), 3)], 0.2, gain=1.7),
    "snli_bilstm_lm": lambda n: case(n, Esim(40, 8, 6, 2, 10, 5), words(5, 7, 7, 2) + [((), 3)], 0.2, gain=1.7),
    "snli_bilstm_peer": lambda n: case(n, Peer(40, 8, 6, 12), words(5, 7, 40, 2) + [((), 3)], 0.2, gain=1.7),
    "rnn_state_small": lambda n: case(n, RnnState(4, 8), [5, ((5, 4), 0), ((8,), 0), ((8,), 0), ((1,), 0)], 0.2,
                                      F.mse_loss, gain=1.7),
    "gpt2": lambda n: case(n, Gpt2(50257, 1024, 12, 768, 12), words(1, 32, 50257, 2), 0, train=False),
    "snli_bilstm": lambda n: case(n, Esim(20000, 300, 300), words(1, 30, 20000, 2) + [((), 3)], 0, train=False),
}

for wanted in sys.argv[1:] or CASES:
    CASES[wanted](wanted)
