-- How many backup replicas are worth it? Synchronous training waits for the slowest GPU. Start N + b replicas, use the first N
-- gradients of a step, drop the last b (Chen et al. 2016, Revisiting Distributed Synchronous SGD): steps are shorter, and the
-- work of b replicas is for nothing. The GPUs are simulated; each is slower or faster by chance, for good and in each step, and
-- has a wire of its own to the host. Nothing here is measured.
--     mgbench -e stragglers.lua --replicas 64 --step-sigma 0.1 --backups 0,1,2,4,8
local o = mgb.options{
  model = { "mnist_cnn", "the model that is trained" },
  replicas = { 64, "GPUs whose gradients a step uses" },
  backups = { { 0, 1, 2, 3, 4, 6, 8 }, "GPUs beyond those" },
  batch = { 32, "examples per GPU" },
  step_sigma = { 0.1, "slowness by chance of a GPU in a step (log-normal; of the logarithm)" },
  device_sigma = { 0.0, "slowness by chance of a GPU for good" },
  tflops = { 9.3, "of a GPU, f32" },
  gbps = { 12.0, "of its wire" },
  steps = { 200, "steps a row" },
  seed = { 1, "of chance" },
}

local function machine(gpus)
  local links = {}
  for k = 0, gpus - 1 do links[#links + 1] = { "/cpu:0", "/gpu:" .. k, gbps = o.gbps } end
  return mgb.machine{ name = "stragglers", source = "options of stragglers.lua", gpu = { count = gpus, f32_tflops = o.tflops,
    memory_gbps = 730, launch_us = 4 }, links = links, jitter = { device = o.device_sigma, step = o.step_sigma } }
end

print(("%s, %d GPUs waited for, %d examples on each; sigma %g a step, %g for good; mean of %d steps, simulated")
  :format(o.model, o.replicas, o.batch, o.step_sigma, o.device_sigma, o.steps))
local rows, first = {}, nil
for _, b in ipairs(o.backups) do
  local gpus = o.replicas + b
  local m = machine(gpus)
  local p = mgb.predict{ model = o.model, machine = m, gpus = gpus, batch = o.batch, strategy = "allreduce" }
               :on(m, o.seed, 0, o.steps, b)
  first = first or p
  rows[#rows + 1] = { backups = b, gpus = gpus, step_ms = p.step_ms, examples_per_s = p.examples_per_s,
                      wasted_percent = 100 * p.wasted, speedup = p.examples_per_s / first.examples_per_s,
                      per_gpu = p.examples_per_s / gpus }
end
mgb.table(rows, { "backups", "gpus", "step_ms", "examples_per_s", "speedup", "per_gpu", "wasted_percent" })
