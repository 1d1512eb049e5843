-- How many GPUs are worth it? Weak scaling gives each GPU the same batch, strong scaling divides one batch; the two answer
-- different questions and are kept apart. The rows of strategy "independent" exchange nothing: what merging costs is the
-- distance to them.
--     mgbench -e scaling.lua --gpus 1,2,4,8 --batch 64
local o = mgb.options{
  model = { "mnist_cnn", "the model to train" },
  gpus = { { 1, 2, 4 }, "GPU counts" },
  batch = { 32, "examples per GPU; of one GPU in strong scaling" },
  steps = { 20, "timed steps a point" },
  repeats = { 1, "runs a point, interleaved; 5 give verdicts" },
  threads = { 0, "CPU threads a device, alike for all points; 0: the cores divided by the most GPUs" },
}
-- One tower would get the threads of all cores, two towers half each: then more than the number of GPUs would differ.
local threads = o.threads > 0 and o.threads or math.max(1, mgb.cores // math.max(table.unpack(o.gpus)))

local columns = { "gpus", "strategy", "step_ms", "examples_per_s", "speedup", "efficiency", "outcome" }
local grid = { gpus = o.gpus, strategy = { "outputs", "gradients", "allreduce", "independent" } }

local function skip(p) return p.gpus == 1 and p.strategy ~= "outputs" end -- one GPU exchanges nothing either way

print("weak scaling: " .. o.batch .. " examples per GPU")
mgb.table(mgb.sweep{ name = "weak", model = o.model, batch = o.batch, steps = o.steps, warmup = 3, repeats = o.repeats,
                     threads = threads, grid = grid, skip = skip }, columns)

print("\nstrong scaling: " .. o.batch .. " examples of all GPUs together")
mgb.table(mgb.sweep{ name = "strong", model = o.model, global_batch = o.batch, steps = o.steps, warmup = 3,
                     repeats = o.repeats, threads = threads, grid = grid, skip = skip }, columns)
print(("\nCPU devices have %d thread%s each at every point (--threads)."):format(threads, threads == 1 and "" or "s"))
