-- Where should the weights live, and where should the towers meet? The four answers of Keras' multi_gpu_model
-- (cpu_relocation x cpu_merge), trained on real digits, side by side, with one GPU as the baseline.
--     mgbench -e placement.lua --gpus 4 --batch 64        sqlite3 results.db 'select * from placement'
local o = mgb.options{
  model = { "mnist_cnn", "the model to train" },
  data = { "mnist", "what it trains on", choices = { "mnist", "digits", "random" } },
  gpus = { 2, "GPUs to split each batch over" },
  batch = { 32, "examples per GPU" },
  steps = { 12, "timed steps a point" },
  epochs = { 0, "train so many epochs instead" },
}

local rows = mgb.sweep{
  name = "placement", model = o.model, data = mgb.data[o.data](), batch = o.batch,
  steps = o.epochs == 0 and o.steps or nil, epochs = o.epochs > 0 and o.epochs or nil, warmup = 3,
  optimizer = mgb.sgd{ lr = 0.05, momentum = 0.9 },
  grid = { gpus = o.gpus > 1 and { 1, o.gpus } or { o.gpus }, cpu_relocation = { false, true }, cpu_merge = { true, false } },
  skip = function(p) return p.gpus == 1 and o.gpus > 1 and (p.cpu_relocation or not p.cpu_merge) end,
}
mgb.table(rows, { "gpus", "cpu_relocation", "cpu_merge", "step_ms", "examples_per_s", "speedup", "efficiency", "loss", "outcome" })

-- Placement may change the time of a step and never its result: the same weights, to the last bit.
local first
for _, row in ipairs(rows) do
  if row.outcome == "ok" and row.gpus == o.gpus then
    first = first or row
    if row.digest ~= first.digest then error(("%s trains differently from %s"):format(row.label, first.label)) end
  end
end
if first then print(("all placements on %d GPUs trained the same weights: %s"):format(o.gpus, first.digest)) end
