-- The ten orderings of shared/reference/simulation.md 2.11, which a simulator must reproduce with nothing fitted: machine files as
-- they are.
local seeds = require "fidelity.seeds"
local orderings = {}

local tiny = 1e-6
local frameworks = { host = { inputs_ready = true, sums_apart = true, copy_waits = "both" } }

local kept = {}
local function step(machine, model, gpus, batch, place)
  local base = mgb.machine(machine)
  kept[machine] = kept[machine] or base:with(frameworks)
  local o = { model = model, gpus = gpus, batch = batch, machine = kept[machine], graph = false, optimizer = mgb.sgd{ lr = 0.01 } }
  for key, value in pairs(place) do o[key] = value end
  return mgb.predict(o).step_ms
end

local on_cpu = { strategy = "gradients", weights_at = "/cpu:0", sum_at = "/cpu:0", bucket_mib = tiny }
local on_cpu_alone = { strategy = "gradients", weights_at = "/cpu:0", sum_at = "/cpu:0", bucket_mib = tiny, peer_access = false }
local on_gpu = { strategy = "gradients", sum_at = "/gpu:0", bucket_mib = tiny, peer_access = false }
local on_gpu_peers = { strategy = "gradients", sum_at = "/gpu:0", bucket_mib = tiny, peer_access = true }
local spread = { strategy = "gradients", weights_at = "spread", sum_at = "spread", bucket_mib = tiny }
local mirrored = { strategy = "allreduce", allreduce = "nccl", bucket_mib = tiny }

local function between(x, low, high) return x >= low and x <= high end

-- { number, what, value as text, holds } each.
function orderings.all()
  local out = {}
  local function say(what, text, holds) out[#out + 1] = { #out + 1, what, text, holds } end
  local four = function(place) return step("p100-pcie-4", "inception_v3", 4, 32, place) end

  local ratio = four(on_gpu) / four(on_cpu_alone)
  say("no peer access, 4 GPUs, Inception: weights on gpu:0 / on the CPU 1.2 to 1.6", ("%.2f"):format(ratio), between(ratio, 1.2, 1.6))
  ratio = four(on_gpu_peers) / four(on_cpu)
  say("peer access: the same 0.90 to 1.0", ("%.3f"):format(ratio), between(ratio, 0.90, 1.0))
  local moved = { strategy = "gradients", cpu_relocation = true, sum_at = "/cpu:0", bucket_mib = tiny, peer_access = false }
  ratio = four(moved) / four(on_cpu_alone)
  say("weights relocated to the CPU / made there within 1 %", ("%.4f"):format(ratio), between(ratio, 0.99, 1.01))
  local function joined(at) return { strategy = "outputs", weights_at = "/cpu:0", join_at = at } end
  ratio = four(joined("/cpu:0")) / four(joined("/gpu:0"))
  say("outputs of 1000 classes joined on the CPU / on gpu:0 within 1 %", ("%.4f"):format(ratio), between(ratio, 0.99, 1.01))

  local alone = step("dgx1-p100", "inception_v3", 1, 32, on_gpu)
  local two, quad, eight = (function(f) return f(2), f(4), f(8) end)(function(n) return step("dgx1-p100", "inception_v3", n, 32, on_gpu) end)
  say("staged penalty: none at 2 GPUs, grows faster than their number", ("x%.2f at 2, x%.2f at 4, x%.2f at 8"):format(two / alone,
      quad / alone, eight / alone), two / alone <= 1.03 and (eight - alone) > 2 * math.max(quad - alone, 0) and quad > two)

  local gains = {}
  for i, model in ipairs{ "inception_v3", "resnet50", "alexnet", "vgg16" } do
    local batch = model == "alexnet" and 512 or 64
    gains[i] = step("dgx1-p100", model, 8, batch, on_cpu) / step("dgx1-p100", model, 8, batch, mirrored)
  end
  say("DGX-1, 8 GPUs: CPU server fine for Inception and ResNet (within 5 %), all-reduce better for AlexNet and VGG",
      ("%.2f %.2f %.2f %.2f"):format(table.unpack(gains)), gains[1] < 1.05 and gains[2] < 1.05 and gains[3] > 1 and gains[4] > 1 and
      math.min(gains[3], gains[4]) > math.max(gains[1], gains[2]))

  local p2, gce = {}, {}
  for i, model in ipairs{ "resnet50", "alexnet", "vgg16" } do
    local batch = ({ 64, 512, 32 })[i]
    p2[i] = step("p2-8xlarge", model, 8, batch, on_cpu) / step("p2-8xlarge", model, 8, batch, spread)
    gce[i] = step("gce-k80-8", model, 8, batch, on_cpu) / step("gce-k80-8", model, 8, batch, spread)
  end
  say("8 K80, CPU / spread over GPUs (ResNet-50, AlexNet, VGG16): above 1 with peer access, below 1 without",
      ("%.3f %.3f %.3f, %.3f %.3f %.3f"):format(p2[1], p2[2], p2[3], table.unpack(gce)),
      math.min(table.unpack(p2)) > 1 and math.max(table.unpack(gce)) < 1)

  local tiny_ratio = {}
  for i, batch in ipairs{ 64, 512, 1024 } do
    tiny_ratio[i] = step("gtx1080ti-2", "mnist_cnn", 2, batch // 2, on_cpu) / step("gtx1080ti-2", "mnist_cnn", 1, batch, { weights_at = "/gpu:0" })
  end
  say("tiny model, two GPUs with CPU weights / one, 64, 512 and 1024 in all: above 1, about 1, below 1",
      ("%.2f %.2f %.2f"):format(table.unpack(tiny_ratio)), tiny_ratio[1] > 1 and between(tiny_ratio[2], 0.7, 1.3) and tiny_ratio[3] < 1)

  local s = seeds.snli()
  local extra = { s[3].step_ms - s[1].step_ms, s[4].step_ms - s[2].step_ms, s[5].step_ms - s[2].step_ms }
  local gain = { s[1].step_ms / s[2].step_ms * 2, s[1].step_ms / s[3].step_ms * 2 }
  say("sentence model: what more GPUs add is flat; doubling the batch about doubling GPUs",
      ("%.1f %.1f %.1f ms; x%.2f x%.2f"):format(extra[1], extra[2], extra[3], gain[1], gain[2]),
      math.max(table.unpack(extra)) - math.min(table.unpack(extra)) < 0.1 * extra[1] and math.abs(gain[1] / gain[2] - 1) < 0.05)

  local cost = {}
  for i, batch in ipairs{ 32, 64 } do
    local one = step("dgx1-p100", "vgg16", 1, batch, mirrored)
    cost[i] = step("dgx1-p100", "vgg16", 8, batch, mirrored) / one - 1
  end
  say("a larger batch never costs relatively more (VGG16, 8 GPUs, 32 and 64)", ("%.1f %% and %.1f %%"):format(100 * cost[1], 100 * cost[2]),
      cost[1] > 0 and cost[2] <= cost[1])
  return out
end

return orderings
