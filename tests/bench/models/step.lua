-- One measurement of run.sh: steps of a model on a fixed batch of random numbers, and what run.sh needs to know beside.
--     mgbench -e step.lua --model resnet50 --batch 8 --threads 2 --devices 1 --steps 3 --warmup 2
-- Prints median_ms, min_ms, forward_flops (of the batch) and core_gflops (a core's peak, measured when a run on a database
-- that does not know it yet began).
local o = mgb.options{
  model = { "mnist_cnn", "the model" },
  options = { "", "its options, as in a table: peer = true" },
  placement = { "", "more settings of the run, as in a table: cpu_merge = false" },
  batch = { 128, "examples a step, on all devices together" },
  devices = { 1, "CPU devices" },
  threads = { 2, "threads a device" },
  steps = { 10, "timed steps" },
  warmup = { 2, "steps before them" },
}

local function table_of(text) return assert(load("return {" .. text .. "}", "=" .. text, "t", {}))() end

local model = mgb.model(o.model, table_of(o.options))
local settings = table_of(o.placement)
settings.model, settings.gpus, settings.threads = model, o.devices, o.threads
settings.global_batch, settings.steps, settings.warmup = o.batch, o.steps, o.warmup
settings.optimizer = mgb.sgd{ lr = 0.001, momentum = 0.9 }
local r = mgb.run(settings)

local core = mgb.db.query([[SELECT max(d.f32_tflops / coalesce(m.cores, m.threads)) AS tflops
  FROM device AS d JOIN machine AS m ON m.id = d.machine_id]])[1].tflops -- a device is recorded with all cores
local least_ns = mgb.db.query("SELECT min(wall_ns) AS ns FROM step WHERE segment_id = ? AND warmup = 0", r.segment_id)[1].ns
print(("median_ms=%.4f min_ms=%.4f forward_flops=%.0f core_gflops=%.2f"):format(r.step_ms.median, least_ns / 1e6,
  model:summary().forward_flops * o.batch, 1e3 * (core or 0)))
