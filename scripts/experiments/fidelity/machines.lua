-- The machines that published points were measured on. Those with a file of their own come from there; the others, of which
-- GPU, count and kind of link are told and no more, are described here by what such machines have in common.
local machines = {}

local cards = require "machines.parts.cards"

-- Spec sheets, all from memory: TFLOPS of f32, tf32 and f16 products, GB/s, GiB, multiprocessors; and the card of a machine file
-- whose shares of its peaks they are taken to reach.
local gpus = {
  rtx2080ti = { "RTX 2080 Ti", 13.45, 0, 107.6, 616, 11, 68, cards.v100_sxm2 },
  rtx8000 = { "Quadro RTX 8000", 16.3, 0, 130.5, 672, 48, 72, cards.v100_sxm2 },
  rtx3080 = { "RTX 3080", 29.8, 59.5, 119, 760, 10, 68, cards.a100_pcie_40gb },
  rtx3090 = { "RTX 3090", 35.6, 71, 142, 936, 24, 82, cards.a100_pcie_40gb },
  a6000 = { "RTX A6000", 38.7, 77.4, 154.8, 768, 48, 84, cards.a100_pcie_40gb },
  v100 = { "V100-SXM3-32GB", 15.7, 0, 125, 900, 32, 80, cards.v100_sxm2 },
}

local function gpu(name, count)
  local g = gpus[name]
  return g[8]{ count = count, name = g[1], f32_tflops = g[2], tf32_tflops = g[3] > 0 and g[3] or nil, f16_tflops = g[4],
               memory_gbps = g[5], memory_gib = g[6], multiprocessors = g[7],
               source = { f32_tflops = "specification, from memory", tf32_tflops = g[3] > 0 and "specification, from memory" or nil,
                          f16_tflops = "specification, from memory", memory_gbps = "specification, from memory" } }
end

local nccl = { -- NCCL's own constants of Simple, a hop: shared/reference/simulation.md 2.4
  pcie = { start_us = 8.4, hop_us = 5.7 }, nvlink = { start_us = 8.4, hop_us = 3.4 },
}

-- GPUs on switches, `per` on each, every switch on the host.
local function tree(count, per, gbps, more)
  local links = more or {}
  for i = 0, count - 1 do
    if per == 1 then
      links[#links + 1] = { "/cpu:0", "/gpu:" .. i, gbps = gbps, latency_us = 5 }
    else
      local switch = "sw" .. i // per
      if i % per == 0 then links[#links + 1] = { "/cpu:0", switch, gbps = gbps, latency_us = 3 } end
      links[#links + 1] = { switch, "/gpu:" .. i, gbps = gbps, latency_us = 2 }
    end
  end
  return links
end

local function switched(count, gbps, links) -- and NVLink to a switch that joins all
  for i = 0, count - 1 do links[#links + 1] = { "/gpu:" .. i, "nvswitch", gbps = gbps, kind = "nvlink", latency_us = 1 } end
  return links
end

local function pairs_linked(edges, gbps, links) -- "0-1:2": two links
  for a, b, n in edges:gmatch("(%d)-(%d):(%d)") do
    links[#links + 1] = { "/gpu:" .. a, "/gpu:" .. b, gbps = gbps * tonumber(n), kind = "nvlink", latency_us = 1 }
  end
  return links
end

local old_host = { memory_gib = 256, cores = 32, memory_gbps = 120, reduce_gbps = 20, submit_us = 5 }
local new_host = { memory_gib = 512, cores = 64, memory_gbps = 150, reduce_gbps = 40, submit_us = 3 }
local source = "GPU: its specification; links: shared/numbers/hardware.md section 4, the tree taken as usual for so many GPUs"

local function box(name, kind, count, host, links, collective, more)
  local t = { name = name, host = host, gpu = gpu(kind, count), links = links, collective = collective, source = source }
  for key, value in pairs(more or {}) do t[key] = value end
  return t
end

local none = { access = false }

-- Peer copies between GPUs that share no switch: rings of PCIe 3 reach 5.8 to 6.2 GB/s (DeepBench), on one switch 11.3 (NCCL
-- issue 44).
local function across(count, gbps)
  local peers = {}
  for i = 0, count - 1, 2 do
    local others = {}
    for k = i + 2, count - 1 do others[#others + 1] = "/gpu:" .. k end
    if others[1] then peers[#peers + 1] = { { "/gpu:" .. i, "/gpu:" .. i + 1 }, others, on = gbps } end
  end
  return peers
end

local files = { k80_gce = "gce-k80-8", k80_p2 = "p2-8xlarge", dgx1_p100 = "dgx1-p100", dgx1_v100 = "dgx1v", dgx_a100 = "dgx-a100",
                a100_pcie = "a100-pcie-8", gtx1080ti = "gtx1080ti-2" }
local described = {
  hgx2_v100 = box("hgx2_v100", "v100", 16, old_host, switched(16, 120, tree(16, 2, 12)), nccl.nvlink),
  a6000 = box("a6000", "a6000", 8, new_host, tree(8, 1, 26), nccl.pcie),
  a6000_vm = box("a6000_vm", "a6000", 4, new_host, tree(4, 1, 26), nccl.pcie, { peers = none }), -- machines in machines hide peers
  rtx8000 = box("rtx8000", "rtx8000", 8, old_host, tree(8, 2, 12), nccl.pcie, { peers = across(8, 6.0) }),
  rtx8000_bridged = box("rtx8000_bridged", "rtx8000", 8, old_host, tree(8, 2, 12), nccl.pcie, { peers = across(8, 6.0) }),
  rtx2080ti = box("rtx2080ti", "rtx2080ti", 8, old_host, tree(8, 2, 12), nccl.pcie, { peers = none }),
  rtx2080ti_bridged = box("rtx2080ti_bridged", "rtx2080ti", 8, old_host, tree(8, 2, 12), nccl.pcie, { peers = none }),
  rtx3080 = box("rtx3080", "rtx3080", 2, new_host, tree(2, 1, 6), nccl.pcie, { peers = none }), -- guess: a desktop's 16 lanes, 8 each
  rtx3090 = box("rtx3090", "rtx3090", 8, new_host, tree(8, 1, 26), nccl.pcie, { peers = none }),
}
for _, name in ipairs{ "rtx2080ti_bridged", "rtx8000_bridged" } do
  pairs_linked("0-4:1 1-5:1 2-6:1 3-7:1", 40, described[name].links)
end

-- How the GPUs of a machine reach each other.
machines.classes = {
  dgx1_p100 = "nvlink", dgx1_v100 = "nvlink", hgx2_v100 = "nvlink", dgx_a100 = "nvlink", a100_pcie = "pcie", a6000 = "pcie",
  a6000_vm = "staged", rtx8000 = "pcie", rtx8000_bridged = "pcie", rtx2080ti = "staged", rtx2080ti_bridged = "staged",
  rtx3080 = "staged", k80_gce = "board",
}

local made = {}

-- The machine as described; the same one each time.
function machines.get(name)
  made[name] = made[name] or mgb.machine(files[name] or described[name])
  return made[name]
end

-- What may be changed, by name: functions of a value and of the changes that are gathered.
local figures = {
  speed = function(value, c, machine)
    c.speeds = { source = "one-GPU row" }
    for i = 0, machine.gpus - 1 do c.speeds["/gpu:" .. i] = value end
  end,
  compute_share = function(value, c) c.collective = c.collective or {}; c.collective.compute_share = value end,
  ring_share = function(value, c) c.collective = c.collective or {}; c.collective.ring_share = value end,
  hop_us = function(value, c) c.collective = c.collective or {}; c.collective.hop_us = value end,
  start_us = function(value, c) c.collective = c.collective or {}; c.collective.start_us = value end,
  board_speed = function(value, c) c.gpu = c.gpu or {}; c.gpu.board_size, c.gpu.board_speed = 2, value end,
  reduce_gbps = function(value, c) c.host = c.host or {}; c.host.reduce_gbps = value end,
  step_us = function(value, c) c.host = c.host or {}; c.host.step_us = value end,
  launch_us = function(value, c) c.gpu = c.gpu or {}; c.gpu.launch_us = value end,
  step_sigma = function(value, c) c.jitter = { step = value } end,
  submit_us = function(value, c) c.host = c.host or {}; c.host.submit_us = value end,
}

-- The machine with some figures changed.
function machines.make(name, changed)
  local base, changes = machines.get(name), {}
  for _, key in ipairs{ "speed", "compute_share", "ring_share", "hop_us", "start_us", "board_speed", "reduce_gbps", "step_us", "submit_us", "launch_us", "step_sigma" } do
    if changed[key] then figures[key](changed[key], changes, base) end
  end
  changes.host = changes.host or {}
  changes.host.inputs_ready = true -- what was published is of batches that lie on the GPUs, or are fetched ahead
  changes.host.sums_apart = true -- as TensorFlow's executor does
  return base:with(changes)
end

return machines
