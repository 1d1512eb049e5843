#!/usr/bin/python3
"""Makes tests/golden/models/*.txt of the convolutional models with torchvision 0.14 (Debian: python3-torchvision), in double.

Run by hand when a case is added, with names of cases or none for all. A small variant is torchvision's net with every number
of filters divided. The order of variables is that in which the modules are called, which the models in scripts/models keep.
"""
import math
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision.models as tv
from models import Golden

torch.set_default_dtype(torch.float64)


def shrink(net, by):
    """Divides filters and features of every layer but the image's channels and the last classes."""
    for m in net.modules():
        if isinstance(m, nn.Conv2d):
            m.in_channels = m.in_channels // by if m.in_channels > 3 else 3
            m.out_channels //= by
            m.weight = nn.Parameter(torch.empty(m.out_channels, m.in_channels, *m.kernel_size))
            m.bias = nn.Parameter(torch.empty(m.out_channels)) if m.bias is not None else None
        elif isinstance(m, nn.BatchNorm2d):
            n = m.num_features = m.num_features // by
            m.weight, m.bias = nn.Parameter(torch.empty(n)), nn.Parameter(torch.empty(n))
            m.running_mean, m.running_var = torch.zeros(n), torch.ones(n)
    return net


def linear(m, inputs, outputs):
    m.weight, m.bias = nn.Parameter(torch.empty(outputs, inputs)), nn.Parameter(torch.empty(outputs))


def called(net, x):
    """Layers with weights in the order of their calls."""
    order, hooks = [], []
    for m in net.modules():
        if isinstance(m, (nn.Conv2d, nn.BatchNorm2d, nn.Linear)):
            hooks.append(m.register_forward_hook(lambda m, *_: order.append(m)))
    with torch.no_grad():
        net(x)
    for h in hooks:
        h.remove()
    return order


def fill(golden, net, x, flat):
    """Gives every weight its value. `flat`: channels, height and width of what is flattened for the first dense layer."""
    for m in called(net, x):
        if isinstance(m, nn.Conv2d):
            o, i, h, w = m.weight.shape
            golden.variable(m.weight, "kernel", (h, w, i, o), lambda t: t.permute(3, 2, 0, 1))
        elif isinstance(m, nn.Linear):
            o, i = m.weight.shape
            if flat:
                c, h, w = flat
                golden.variable(m.weight, "kernel", (i, o),
                                lambda t: t.reshape(h, w, c, o).permute(3, 2, 0, 1).reshape(o, i))
                flat = None
            else:
                golden.variable(m.weight, "kernel", (i, o), lambda t: t.t())
        else:
            golden.variable(m.weight, "gamma", (m.num_features,), lambda t: t)
        if m.bias is not None:
            golden.variable(m.bias, "beta" if isinstance(m, nn.BatchNorm2d) else "bias", (m.bias.numel(),), lambda t: t)
        if isinstance(m, nn.BatchNorm2d):
            golden.variable(m.running_mean, "moving_mean", (m.num_features,), lambda t: t)
            golden.variable(m.running_var, "moving_variance", (m.num_features,), lambda t: t)


def first(y):
    return y[0] if isinstance(y, tuple) else y


def loss(y, label):
    if isinstance(y, tuple):
        return F.cross_entropy(y[0], label) + 0.4 * F.cross_entropy(y[1], label)
    return F.cross_entropy(y, label)


def case(name, net, rows, size, classes, flat=None, lr=0.05, train=True, beta=0.0, gradients=True):
    golden = Golden(name, beta=beta)
    for m in net.modules():
        if isinstance(m, nn.Dropout):
            m.p = 0.0
    image = golden.input(rows, (size, size, 3)).permute(0, 3, 1, 2)
    label = golden.input(rows, (), classes)
    net.train()
    if not train and isinstance(net, tv.Inception3):
        net.eval()
    fill(golden, net, image, flat)
    net.eval()
    with torch.no_grad():
        golden.write("outputs", first(net(image)).reshape(-1).tolist())
    net.train()
    if train:
        golden.train(lambda: loss(net(image), label), lr, gradients)
    golden.save()


class CifarBlock(nn.Module):
    def __init__(self, inputs, filters, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, filters, 3, stride, 1, bias=False), nn.BatchNorm2d(filters)
        self.conv2, self.bn2 = nn.Conv2d(filters, filters, 3, 1, 1, bias=False), nn.BatchNorm2d(filters)
        self.new, self.stride = filters - inputs, stride

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        x = x[:, :, ::self.stride, ::self.stride]
        return F.relu(y + F.pad(x, (0, 0, 0, 0, self.new // 2, self.new - self.new // 2)))


def cifar_resnet(depth, width, classes=10):
    layers, inputs = [nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()], width
    for stage in range(3):
        for i in range(depth // 6):
            layers.append(CifarBlock(inputs, width << stage, 2 if i == 0 and stage > 0 else 1))
            inputs = width << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


def resnet_small(make):
    net = shrink(make(), 8)
    linear(net.fc, net.fc.in_features // 8, 10)
    return net


def inception_small(aux):
    net = shrink(tv.inception_v3(weights=None, aux_logits=aux, init_weights=False), 8)
    linear(net.fc, 256, 10)
    if aux:
        linear(net.AuxLogits.fc, 96, 10)
    return net


def classifier_small(net, by, units):
    """alexnet and vgg16: what is flattened has 2x2 pixels."""
    net, sizes = shrink(net, by), [2 * 2 * (256 // 8 if by == 8 else 512 // 16), units, units, 10]
    net.avgpool = nn.Identity()
    for i, m in enumerate(m for m in net.classifier if isinstance(m, nn.Linear)):
        linear(m, sizes[i], sizes[i + 1])
    return net


CASES = {
    "resnet18_small": lambda n: case(n, resnet_small(tv.resnet18), 4, 64, 10),
    "resnet50_small": lambda n: case(n, resnet_small(tv.resnet50), 4, 64, 10, beta=1.0),
    "cifar_resnet_small": lambda n: case(n, cifar_resnet(20, 4), 4, 16, 10),
    "inception_v3_small": lambda n: case(n, inception_small(False), 4, 139, 10, beta=2.0),
    # Smaller images leave nothing for the second classifier; with these, gradients of the stem are noise (see Golden).
    "inception_v3_aux_small": lambda n: case(n, inception_small(True), 4, 299, 10, beta=2.0, gradients=False),
    "vgg16_small": lambda n: case(n, classifier_small(tv.vgg16(), 16, 48), 4, 64, 10, (32, 2, 2), 0.01),
    "alexnet_small": lambda n: case(n, classifier_small(tv.alexnet(), 8, 64), 4, 96, 10, (32, 2, 2), 0.01),
    "resnet50": lambda n: case(n, tv.resnet50(), 1, 224, 1000, train=False),
    "inception_v3": lambda n: case(n, tv.inception_v3(weights=None, aux_logits=False, init_weights=False), 1, 299, 1000,
                                   train=False),
    "vgg16": lambda n: case(n, tv.vgg16(), 1, 224, 1000, (512, 7, 7), train=False),
    "alexnet": lambda n: case(n, tv.alexnet(), 1, 224, 1000, (256, 6, 6), train=False),
}

for wanted in sys.argv[1:] or CASES:
    CASES[wanted](wanted)
