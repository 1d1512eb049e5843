"""What make_layers_*.py share: weights and inputs by a formula that tests/support/golden.c has too, training, and the files."""
import math
import os
import torch

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "layers")


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

    def train(self, loss_of, lr=0.5, after=None):
        """Losses before, after one and after two steps of SGD, and the gradients of the first; after(step)
        follows each."""
        optimizer = torch.optim.SGD(self.params, lr=lr)
        for s in range(3):
            optimizer.zero_grad()
            loss = loss_of()
            loss.backward()
            self.write("loss%d" % s, loss.reshape(1))
            for i, p in enumerate(self.params if s == 0 else []):
                self.write("grad%d" % i, p.grad.flatten())
            optimizer.step()
            if after:
                after(s)
        os.makedirs(HERE, exist_ok=True)
        with open(os.path.join(HERE, self.name + ".txt"), "w") as f:
            f.write("\n".join(self.lines) + "\n")
