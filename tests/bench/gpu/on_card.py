"""A training step of PyTorch on a GPU: python3 on_card.py .../torch_bench.py NET BATCH STEPS PRECISION [--compiled].
The nets are those of torch_bench.py, and gpt2 (small, 256 positions) as scripts/models/gpt2.lua has it. One fixed batch, SGD with
momentum, images with channels last. PRECISION: f32, tf32, bf16 or f16 (autocast, f16 with its GradScaler). Ten steps go before
those timed; prints median_ms=, min_ms= and what it ran on. --device cpu is for trying the script out."""
import statistics, sys, time
import torch, torch.nn as nn, torch.nn.functional as F

IMAGES = ("mnist_cnn", "resnet50", "inception3")


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, width = x.shape
        q, k, v = (a.view(b, t, self.heads, -1).transpose(1, 2) for a in self.qkv(self.norm1(x)).chunk(3, 2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=True)
        x = x + F.dropout(self.out(y.transpose(1, 2).reshape(b, t, width)), 0.1)
        return x + F.dropout(self.narrow(F.gelu(self.wide(self.norm2(x)), approximate="tanh")), 0.1)


class Gpt2(nn.Module):
    def __init__(self, vocabulary=50257, context=1024, layers=12, width=768, heads=12):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.randn(context, width) * 0.02)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, ids):
        x = F.dropout(self.tokens(ids) + self.positions[: ids.shape[1]], 0.1)
        return F.linear(self.norm(self.blocks(x)), self.tokens.weight).flatten(0, 1)


def net_make(path, net, batch):
    if net == "gpt2":
        return Gpt2(), torch.randint(50257, (batch, 256)), torch.randint(50257, (batch * 256,))
    text = open(path).read()
    names = {"__name__": "nets"}
    exec(compile(text[: text.rindex("\nmain()")], path, "exec"), names)  # it would begin at once
    return names["make"](net, batch)


def main():
    path, net, batch, steps, precision = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    device = "cpu" if "cpu" in sys.argv[6:] else "cuda"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision != "f32"
    torch.backends.cudnn.benchmark = True
    model, x, y = net_make(path, net, batch)
    model, x, y = model.to(device).train(), x.to(device), y.to(device)
    if net in IMAGES:
        model, x = model.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    if "--compiled" in sys.argv:
        model = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    narrow = {"bf16": torch.bfloat16, "f16": torch.float16}.get(precision)
    scaler = torch.amp.GradScaler(device, enabled=precision == "f16")
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    times = []
    for _ in range(steps + 10):
        wait()
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=narrow or torch.bfloat16, enabled=narrow is not None):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        wait()
        times.append((time.perf_counter() - begin) * 1e3)
    times = times[10:]
    name = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    print(f"median_ms={statistics.median(times):.4f} min_ms={min(times):.4f} torch={torch.__version__} on {name}")


main()
