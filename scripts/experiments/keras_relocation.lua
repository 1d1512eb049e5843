-- The memory column of the Keras thread on cpu_relocation: which device holds how much of the weights where the model was
-- built on the CPU, where it was built on GPU 0, and where multi_gpu_model moves it to the CPU. Keras' move is a clone and
-- leaves the original behind ("extra gpu_mem = 0.2GB"); relocation = "move", the default here, leaves nothing.
--     mgbench -e keras_relocation.lua --model inception_v3 --batch 2
-- Bytes are exact and the same on any device of these names; times are of the devices named below the table.
local o = mgb.options{
  model = { "mnist_cnn", "the model to train; in the thread inception_v3 and resnet50" },
  gpus = { 4, "GPUs to split each batch over" }, batch = { 8, "examples per GPU" },
  steps = { 5, "timed steps a row" },
  threads = { 0, "CPU threads a device; 0: the cores divided by the GPUs" },
}
-- A model that is built on the CPU and one that is moved there whole are the same to the last byte.
local cases = {
  { "built on the CPU", weights_at = "/cpu:0", relocation = "move" },
  { "built on GPU 0" },
  { "built on GPU 0, cloned to the CPU", cpu_relocation = true, relocation = "clone" },
  { "built on GPU 0, moved to the CPU", cpu_relocation = true, relocation = "move" },
}
local mib, rows = 2 ^ 20, {}
for i, case in ipairs(cases) do
  local r = mgb.run{ model = o.model, like = "keras", gpus = o.gpus, batch = o.batch, steps = o.steps, warmup = 1,
                     threads = o.threads > 0 and o.threads or math.max(1, mgb.cores // o.gpus),
                     weights_at = case.weights_at, cpu_relocation = case.cpu_relocation, relocation = case.relocation }
  local gpu, cpu = r.memory["/gpu:0"], r.memory["/cpu:0"]
  rows[i] = { model_is = case[1], gpu0_weights = (gpu.weights + gpu.leftover) / mib, gpu0_leftover = gpu.leftover / mib,
              gpu0_peak = gpu.planned / mib, cpu_weights = cpu.weights / mib, cpu_peak = cpu.planned / mib,
              step_ms = r.step_ms, digest = r.digest, backend = r.backend }
  if r.digest ~= rows[1].digest then error("where the weights live changed what was trained: " .. case[1]) end
end
mgb.table(rows, { "model_is", "gpu0_weights", "gpu0_leftover", "gpu0_peak", "cpu_weights", "cpu_peak", "step_ms" })
print("(sizes in MiB, weights as they last from step to step; what towers fetch of them is in the peaks)")
local left = rows[3].gpu0_leftover
print(("Cloning leaves %.2f MiB on GPU 0 that nobody uses; moving leaves %.2f."):format(left, rows[4].gpu0_leftover))
if o.model == "inception_v3" or o.model == "resnet50" then
  local copy = rows[2].gpu0_weights * mib / 1e9
  print('The thread has 0.2 GB, "<= 0.2GB" in its text, where the model was built, cloned or not, and counts no clone.')
  print(("Here the weights are %.3f GB there, and with their clone on the CPU %.3f GB together."):format(copy,
        copy + rows[3].cpu_weights * mib / 1e9))
end
