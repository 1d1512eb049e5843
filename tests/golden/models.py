"""What make_models_*.py share: weights and inputs by a formula that tests/app/script/golden_model.c has too, training in
double, and the files. Variables are those of mgbench in the order in which the model makes them, in its layouts: channels
last, dense weights [in, out], convolutions [height, width, in / groups, out].
"""
import math
import os
import numpy
import torch

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")
TAKEN = 6  # values stored of a gradient


def bits(count, salt):
    """32 mixed bits a number (the finaliser of MurmurHash3), as mixed() in golden_model.c."""
    x = (numpy.arange(1, count + 1, dtype=numpy.uint64) * 2654435761 + salt * 40503) & 0xFFFFFFFF
    x ^= x >> 16
    x = x * 0x85EBCA6B & 0xFFFFFFFF
    x ^= x >> 13
    x = x * 0xC2B2AE35 & 0xFFFFFFFF
    return x ^ x >> 16


def uniform(shape, salt, scale=1.0, shift=0.0):
    """float32 in shift + [-scale, scale), as doubles."""
    values = (bits(math.prod(shape), salt) >> 8).astype(numpy.float64) / 8388608.0 - 1.0
    values = (shift + values * numpy.float32(scale).astype(numpy.float64)).astype(numpy.float32)
    return torch.from_numpy(values.astype(numpy.float64)).reshape(shape)


def below(shape, salt, classes):
    """Whole numbers from 0 up to classes - 1."""
    return torch.from_numpy((bits(math.prod(shape), salt) >> 8).astype(numpy.int64) % classes).reshape(shape)


def weight(name, shape, number, gain, beta):
    """The value of variable `number`, by the last part of its name; betas are around `beta`."""
    salt = 100 + number
    if name in ("gamma", "moving_variance"):
        return uniform(shape, salt, 0.1, 1.0)
    if len(shape) < 2:
        return uniform(shape, salt, 0.1, beta if name == "beta" else 0.0)
    if name == "embeddings":
        return uniform(shape, salt, 1.0)
    return uniform(shape, salt, gain / math.sqrt(math.prod(shape[:-1])))


class Golden:
    """A file of tests/golden/models. Weights are uniform up to gain / sqrt(inputs of a unit). With a `beta` well above 0 few
    units of a normalised net are at the bend of relu: in deep ones with many pixels, where gradients are sums that nearly
    cancel, one unit that rounding pushes over it is seen in the fourth digit, in PyTorch's float32 as in ours."""

    def __init__(self, name, gain=math.sqrt(6.0), beta=0.0):
        self.name, self.lines, self.gain, self.beta, self.variables = name, [], gain, beta, []
        self.write("gain", [gain])
        if beta:
            self.write("beta", [beta])

    def write(self, label, values):
        self.lines.append("%s : %d : %s" % (label, len(values), " ".join("%.9g" % v for v in values)))

    def input(self, rows, shape, classes=0):
        """Input number 0, 1... : f32 in [-1, 1) or, with classes, whole numbers below."""
        number = sum(line.startswith("input") for line in self.lines)
        self.write("input%d" % number, [rows, classes])
        shape = (rows,) + tuple(shape)
        return below(shape, 1 + number, classes) if classes else uniform(shape, 1 + number)

    def variable(self, tensor, name, shape, to_torch):
        """The next variable: its torch tensor, the last part of its name, its shape in mgbench, and what turns a tensor of that
        shape into the torch one (the way back is found by numbering)."""
        with torch.no_grad():
            tensor.copy_(to_torch(weight(name, shape, len(self.variables), self.gain, self.beta)))
        order = to_torch(torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape)).reshape(-1).long()
        self.variables.append((tensor, order))

    def gradient(self, tensor, order):
        """In mgbench's order."""
        flat = torch.empty(order.numel(), dtype=torch.float64)
        flat[order] = tensor.grad.reshape(-1)
        return flat

    def train(self, loss_of, lr=0.05, gradients=True):
        """Loss of each of three steps, norms and samples of the gradients of the first, of what is trained."""
        trained = [(t, order) for t, order in self.variables if t.requires_grad]
        norms, values = [], []
        losses = []
        for step in range(3):
            for t, _ in trained:
                t.grad = None
            loss = loss_of()
            loss.backward()
            losses.append(loss.item())
            for t, order in trained if step == 0 else []:
                g = self.gradient(t, order)
                taken = min(TAKEN, g.numel())
                norms.append(g.norm().item())
                values += [g[j * g.numel() // taken].item() for j in range(taken)]
            with torch.no_grad():
                for t, _ in trained:
                    t -= lr * t.grad
        self.write("rate", [lr])
        self.write("losses", losses)
        if gradients:
            self.write("norms", norms)
            self.write("values", values)

    def save(self):
        os.makedirs(HERE, exist_ok=True)
        with open(os.path.join(HERE, self.name + ".txt"), "w") as f:
            f.write("\n".join(self.lines) + "\n")
        print(self.name, self.lines[-1][:100] if len(self.lines[-1]) < 2000 else "")
