-- GPUs that machine files are made of: cards.p100_sxm2{ count = 8 } is a table for `gpu`, with a source for each figure.
-- Where a source says "guess" or "from memory", nothing was found; a measured figure there is welcome.
local cards = {}

-- What of the memory's bandwidth an operator reaches, by bytes: calculon's shape (a prior for the A100: 0.3, 0.6, 0.75 and 0.9 at
-- most), scaled to the share that a stream was measured to reach.
local function memory_curve(most)
  local share = most / 0.9
  return { { 1e4, 0.3 * share }, { 1e6, 0.6 * share }, { 1e7, 0.75 * share }, { 1e8, most } }
end

-- A product of matrices 1760 x N x 1760 has 6.195e6 N operations; shares of the peak at N = 16, 32, 64, 128, 7000.
local function gemm_curve(shares)
  local curve = {}
  for i, n in ipairs{ 16, 32, 64, 128, 7000 } do curve[i] = { 2 * 1760 * n * 1760, shares[i] } end
  return curve
end

local p100_gemm = gemm_curve{ 0.19, 0.47, 0.65, 0.745, 0.90 } -- 1.8, 4.5, 6.2, 7.1 and 8.6 of 9.53 TFLOPS
local v100_gemm = gemm_curve{ 0.166, 0.306, 0.452, 0.573, 0.815 } -- 2.6, 4.8, 7.1, 9.0 and 12.8 of 15.7 TFLOPS

local kepler_gemm = gemm_curve{ 0.16, 0.39, 0.54, 0.62, 0.75 } -- P100's by 0.75 / 0.90

local p100_gemm_source = "DeepBench, P100 PCIe, f32 GEMM 1760 x N x 1760: 1.8, 4.5, 6.2, 7.1, 8.6 TFLOPS at N = 16, 32, 64, 128, 7000"
local v100_gemm_source = "DeepBench, V100 in DGX-1, f32 GEMM 1760 x N x 1760: 2.6, 4.8, 7.1, 9.0, 12.8 TFLOPS at N = 16, 32, 64, 128, 7000"
local memory_prior = "; smaller tasks: calculon's shape for the A100"

-- Against the curve of products, geometric means over DeepBench's 3x3 convolutions of batch 16 (112^2 64->128, 56^2 128->256,
-- 28^2 256->512, 14^2 512->512): Winograd's method needs fewer multiplications than are counted.
local v100_winograd = { conv2d_3x3 = 2.4, conv2d_grad_x_3x3 = 2.4, conv2d_grad_w_3x3 = 2.2 }
local v100_winograd_source = "DeepBench, V100, 3x3 convolutions of batch 16: 1.246, 0.90, 0.80, 0.51 ms forward, 1.209, 0.90, 0.86, " ..
  "0.50 to x, 1.928, 0.94, 0.77, 0.48 to w; means against the curve"
local p100_winograd = { conv2d_3x3 = 1.9, conv2d_grad_x_3x3 = 2.0, conv2d_grad_w_3x3 = 1.7 }
local p100_winograd_source = "DeepBench, P100, 112^2 64->128 of batch 16: 2.32, 2.10 and 3.73 ms, against the curve 1.5, 1.65 and 0.93; " ..
  "other sizes as the V100's stand to its own of this size"

local function efficiency(compute, memory, factors)
  local all = { compute = compute, memory = memory }
  for name, value in pairs(factors or {}) do all[name] = value end
  return all
end

local function efficiency_source(compute, memory, factors, text)
  local all = { compute = compute, memory = memory }
  for name in pairs(factors or {}) do all[name] = text end
  return all
end

local function merged(base, more)
  local out = {}
  for key, value in pairs(base) do out[key] = value end
  for key, value in pairs(more or {}) do
    local both = type(out[key]) == "table" and type(value) == "table" and key ~= "efficiency"
    out[key] = both and merged(out[key], value) or value
  end
  return out
end

-- A card: a function that gives its table with more fields in it.
local function card(base)
  return function(more) return merged(base, more) end
end

local launch_source = "about 3 us for an empty kernel on recent parts: NVIDIA forum"
local hopper_gemm = v100_gemm
local guess_gemm = "guess: shares as of the V100 in f32 (" .. v100_gemm_source .. ")"

cards.k80 = card{ -- one of the two GPUs of a board
  name = "K80 (half a board)", memory_gib = 12, f32_tflops = 4.37, memory_gbps = 240, launch_us = 5.7, multiprocessors = 13,
  board_size = 2,
  efficiency = efficiency(kepler_gemm, memory_curve(0.61)),
  source = {
    memory_gib = "NVIDIA board specification BD-07317: 24 GB a board", memory_gbps = "NVIDIA BD-07317: 480 GB/s a board",
    f32_tflops = "8.74 TFLOPS a board at the boost clock of 875 MHz (2.8 a GPU at base): AnandTech on its launch; auto boost is on",
    launch_us = "asynchronous launch of an empty kernel: ReFrame, CSCS kernel_latency reference",
    multiprocessors = "GK210, 13 a GPU: from memory", board_size = "two GPUs a board: NVIDIA BD-07317",
    efficiency = efficiency_source("from memory: large products reach about 0.75 on Kepler; smaller ones as the P100's stand to its " ..
                                   "large ones (" .. p100_gemm_source .. "); no Winograd: cuDNN had it from Maxwell on, from memory",
                                   "guess: shares as of the P100") },
}

local p100 = {
  memory_gib = 16, memory_gbps = 732, launch_us = 2.2, multiprocessors = 56,
  efficiency = efficiency(p100_gemm, memory_curve(0.61), p100_winograd),
  source = {
    memory_gib = "16 GB HBM2", memory_gbps = "nominal: sysrqmts.com on the P100",
    launch_us = "asynchronous launch of an empty kernel: ReFrame, CSCS kernel_latency reference",
    multiprocessors = "GP100, 56: from memory",
    efficiency = efficiency_source(p100_gemm_source,
                                   "a device copy reaches 444 of 732 GB/s: gearshifft pull request 82" .. memory_prior,
                                   p100_winograd, p100_winograd_source) },
}
cards.p100_pcie = card(merged(p100, { name = "P100-PCIE-16GB", f32_tflops = 9.53, f16_tflops = 19.05,
  source = { f32_tflops = "sysrqmts.com on the P100 PCIe", f16_tflops = "sysrqmts.com on the P100 PCIe" } }))
cards.p100_sxm2 = card(merged(p100, { name = "P100-SXM2-16GB", f32_tflops = 10.6, f16_tflops = 21.2,
  source = { f32_tflops = "from memory", f16_tflops = "from memory" } }))

cards.v100_sxm2 = card{
  name = "V100-SXM2-16GB", memory_gib = 16, f32_tflops = 15.7, f16_tflops = 125, memory_gbps = 900, launch_us = 3,
  multiprocessors = 80,
  efficiency = efficiency(v100_gemm, memory_curve(0.80), v100_winograd),
  source = {
    memory_gib = "16 GB HBM2", f32_tflops = "from memory", f16_tflops = "tensor cores; from memory",
    memory_gbps = "nominal, from memory", launch_us = launch_source, multiprocessors = "GV100, 80: from memory",
    efficiency = efficiency_source(v100_gemm_source, "guess: 0.80, as the A100's stream" .. memory_prior, v100_winograd,
                                   v100_winograd_source) },
}

local a100 = {
  f32_tflops = 19.5, tf32_tflops = 156, bf16_tflops = 312, f16_tflops = 312, launch_us = 3, multiprocessors = 108,
  efficiency = efficiency(v100_gemm, memory_curve(0.80), v100_winograd),
  source = {
    f32_tflops = "stas00/ml-engineering", tf32_tflops = "stas00/ml-engineering, dense", bf16_tflops = "stas00/ml-engineering, dense",
    f16_tflops = "stas00/ml-engineering, dense", launch_us = launch_source, multiprocessors = "GA100, 108: from memory",
    efficiency = efficiency_source(guess_gemm,
                                   "a copy reaches 1.61 of about 2.0 TB/s on the 80 GB part: Azure AI benchmarking guide" .. memory_prior,
                                   v100_winograd, "guess: as of the V100") },
}
cards.a100_pcie_40gb = card(merged(a100, { name = "A100-PCIE-40GB", memory_gib = 40, memory_gbps = 1555,
  source = { memory_gib = "40 GB HBM2", memory_gbps = "nominal: stas00/ml-engineering" } }))
cards.a100_sxm4_40gb = card(merged(a100, { name = "A100-SXM4-40GB", memory_gib = 40, memory_gbps = 1555,
  source = { memory_gib = "40 GB HBM2", memory_gbps = "nominal: stas00/ml-engineering" } }))
cards.a100_sxm4_80gb = card(merged(a100, { name = "A100-SXM4-80GB", memory_gib = 80, memory_gbps = 2000,
  source = { memory_gib = "80 GB HBM2e", memory_gbps = "nominal, about 2000: stas00/ml-engineering" } }))

local hopper = {
  f32_tflops = 67, tf32_tflops = 494.5, bf16_tflops = 989, f16_tflops = 989, launch_us = 3, multiprocessors = 132,
  source = {
    f32_tflops = "stas00/ml-engineering", tf32_tflops = "stas00/ml-engineering, dense", bf16_tflops = "stas00/ml-engineering, dense",
    f16_tflops = "stas00/ml-engineering, dense", launch_us = launch_source, multiprocessors = "132 of SXM5: from memory" },
}
cards.h100_sxm5 = card(merged(hopper, { name = "H100-SXM5-80GB", memory_gib = 80, memory_gbps = 3350,
  efficiency = efficiency(hopper_gemm, memory_curve(0.87), v100_winograd),
  source = { memory_gib = "80 GB HBM3", memory_gbps = "nominal: stas00/ml-engineering",
    efficiency = efficiency_source(guess_gemm, "a copy reaches 2.90 of 3.35 TB/s: Azure AI benchmarking guide" .. memory_prior,
                                   v100_winograd, "guess: as of the V100") } }))
cards.h200_sxm5 = card(merged(hopper, { name = "H200-SXM5-141GB", memory_gib = 141, memory_gbps = 4800,
  efficiency = efficiency(hopper_gemm, memory_curve(0.84), v100_winograd),
  source = { memory_gib = "141 GB HBM3e", memory_gbps = "nominal: stas00/ml-engineering",
    efficiency = efficiency_source(guess_gemm, "a copy reaches 4.01 of 4.8 TB/s: Azure AI benchmarking guide" .. memory_prior,
                                   v100_winograd, "guess: as of the V100") } }))

cards.gtx1080ti = card{
  name = "GTX 1080 Ti", memory_gib = 11, f32_tflops = 11.3, memory_gbps = 484, launch_us = 3, multiprocessors = 28,
  efficiency = efficiency(p100_gemm, memory_curve(0.76), p100_winograd),
  source = {
    memory_gib = "from memory", f32_tflops = "at the boost clock, from memory", memory_gbps = "nominal, from memory",
    launch_us = launch_source, multiprocessors = "from memory",
    efficiency = efficiency_source("guess: shares as of the P100 (" .. p100_gemm_source .. ")",
                                   "a GTX 1070 copies 195 of 256 GB/s: rossumai" .. memory_prior, p100_winograd,
                                   "guess: as of the P100") },
}

return cards
