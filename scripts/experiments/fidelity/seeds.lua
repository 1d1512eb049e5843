-- The two threads that mgbench began with: keras #9638 (InceptionV3 on four P100) and deep_qa #356 (a sentence model).
local fit = require "fidelity.fit"
local seeds = {}

-- Keras sums a gradient when it has come and copies of TensorFlow 1.x wait for both sides; its example trains with RMSprop.
local host = { inputs_ready = true, sums_apart = true }
local keras = { model = "inception_v3", strategy = "gradients", gpus = 4, batch = 32, bucket_mib = 1e-6, graph = false }
local places = {
  on_gpu = { sum_at = "/gpu:0", peer_access = false }, with_peers = { sum_at = "/gpu:0", peer_access = true },
  on_cpu = { weights_at = "/cpu:0", sum_at = "/cpu:0", peer_access = false },
  relocated = { cpu_relocation = true, sum_at = "/cpu:0", peer_access = false },
}
seeds.keras_places = places

local planned = {}

-- Milliseconds of a placement of `base` with its figures changed.
function seeds.step(name, base, place, changes, more)
  local machine = base:with(changes)
  if planned[name] then return planned[name]:on(machine).step_ms end
  local options = { machine = machine, optimizer = mgb.rmsprop{ lr = 0.001 } }
  for _, given in ipairs{ keras, place, more or {} } do
    for key, value in pairs(given) do options[key] = value end
  end
  planned[name] = mgb.predict(options)
  return planned[name].step_ms
end

local function changed(speed, gbps, latency)
  local speeds, peers = { source = "fitted" }, nil
  for i = 0, 3 do speeds["/gpu:" .. i] = speed end
  if gbps then peers = { off = { gbps = gbps, latency_us = latency }, source = "fitted" } end
  return { host = host, speeds = speeds, peers = peers }
end

-- Two numbers fitted: how fast the GPUs compute, to 228.5 ms (the middle of 222 to 235) with peer access; and what staged copies
-- reach, to 338 ms. { floor, on_gpu, on_cpu, relocated, speed, gbps, ridge }
function seeds.keras(latency)
  local base = mgb.machine("p100-pcie-4")
  local function step(name, ...) return seeds.step(name, base, places[name], changed(...)) end
  local slow = fit.solve(function(x) return step("with_peers", 1 / x) end, 228.5, 1.5, 0.1, 10)
  local out = { speed = 1 / slow, floor = step("with_peers", 1 / slow), ridge = {} }
  for _, us in ipairs{ 5, 14, 25, 50 } do
    local pace = fit.solve(function(x) return step("on_gpu", out.speed, 1 / x, us) end, 338, 0.5, 0.02, 5)
    out.ridge[#out.ridge + 1] = { us, 1 / pace }
    if us == 14 then out.gbps = 1 / pace end
  end
  for _, name in ipairs{ "on_gpu", "on_cpu", "relocated" } do out[name] = step(name, out.speed, out.gbps, 14) end
  return out
end

-- Rows of deep_qa: GPUs, batch a GPU, examples a second. What several GPUs add depends neither on their number nor on the batch:
-- an exchange over links of their own that nothing hides, here a tree without overlap (which one it was is not told).
seeds.snli_rows = { { 1, 32, 24.6 }, { 1, 64, 45.7 }, { 2, 32, 46.6 }, { 2, 64, 86.9 }, { 4, 64, 174.6 } }

local function snli_machine(figures)
  local m = { name = "snli", source = "fitted to the first three rows", host = { memory_gbps = 200, reduce_gbps = 200, step_us = figures.step_us,
              inputs_ready = true }, gpu = { count = 4, f32_tflops = figures.tflops, memory_gbps = 1e4 }, links = {} }
  for i = 0, 3 do m.links[#m.links + 1] = { "/cpu:0", "/gpu:" .. i, gbps = figures.gbps } end
  return mgb.machine(m)
end

-- Three numbers fitted to three rows: what a step takes whatever its size, how fast the GPUs are, and each one's link.
function seeds.snli()
  local plans, figures = {}, { step_us = 1.2e6, tflops = 1, gbps = 1 }
  local function step(row)
    local key = row[1] .. "x" .. row[2]
    local machine = snli_machine(figures)
    if plans[key] then return plans[key]:on(machine).step_ms end
    local o = { model = "snli_bilstm", strategy = "allreduce", allreduce = "tree", gpus = row[1], batch = row[2], machine = machine,
                graph = false, overlap = false, optimizer = mgb.sgd{ lr = 0.01 } }
    plans[key] = mgb.predict(o)
    return plans[key].step_ms
  end
  local function seen(row) return row[1] * row[2] * 1000 / row[3] end
  local rows = seeds.snli_rows
  for _ = 1, 20 do -- each figure in turn, until all three rows come out
    figures.tflops = 1 / fit.solve(function(x)
      figures.tflops = 1 / x
      return step(rows[2]) - step(rows[1]) + 1
    end, seen(rows[2]) - seen(rows[1]) + 1, 1 / figures.tflops, 1e-6, 1e6)
    figures.step_us = math.max(0, figures.step_us + (seen(rows[1]) - step(rows[1])) * 1000)
    figures.gbps = 1 / fit.solve(function(x)
      figures.gbps = 1 / x
      return step(rows[3])
    end, seen(rows[3]), 1 / figures.gbps, 1e-4, 1e4)
  end
  local out = { figures = figures }
  for i, row in ipairs(rows) do out[i] = { gpus = row[1], batch = row[2], seen = seen(row), step_ms = step(row) } end
  out.step = step
  return out
end

-- Whether 128 examples fit where 64 do, on a GPU that holds 1.5 times what 64 take.
function seeds.snli_memory()
  local function plan(batch)
    local p = mgb.predict{ model = "snli_bilstm", strategy = "gradients", gpus = 1, batch = batch, graph = false,
                           machine = snli_machine{ step_us = 0, tflops = 1, gbps = 1 } }
    for _, d in ipairs(p.devices) do if d.device == "/gpu:0" then return d.planned end end
  end
  local a, b = plan(64), plan(128)
  return a, b, b / a
end

return seeds
