-- Where should the weights live, and where should the towers meet? The four answers of Keras' multi_gpu_model
-- (cpu_relocation x cpu_merge), trained on real digits, side by side, with one GPU as the baseline.
--     mgbench -e placement.lua --gpus 4 --batch 64        sqlite3 results.db 'select * from placement'
local o = mgb.options{
  model = { "mnist_cnn", "the model to train" },
  data = { "mnist", "what it trains on", choices = { "mnist", "digits", "random" } },
  gpus = { 2, "GPUs to split each batch over" }, batch = { 32, "examples per GPU" },
  steps = { 12, "timed steps a point" }, epochs = { 0, "train so many epochs instead" },
}
local grid = { gpus = o.gpus > 1 and { 1, o.gpus } or { o.gpus }, cpu_relocation = { false, true }, cpu_merge = { true, false } }
local rows = mgb.sweep{
  name = "placement", model = o.model, data = mgb.data[o.data](), batch = o.batch, warmup = 3, grid = grid,
  steps = o.epochs == 0 and o.steps or nil, epochs = o.epochs > 0 and o.epochs or nil,
  optimizer = mgb.sgd{ lr = 0.05, momentum = 0.9 },
  skip = function(p) return p.gpus == 1 and o.gpus > 1 and (p.cpu_relocation or not p.cpu_merge) end,
}
mgb.table(rows, { "gpus", "cpu_relocation", "cpu_merge", "step_ms", "examples_per_s", "speedup", "efficiency", "loss", "outcome" })

local default, fastest
for _, row in ipairs(rows) do
  if row.outcome == "ok" and row.gpus == o.gpus then
    default, fastest = default or row, (not fastest or row.step_ms.median < fastest.step_ms.median) and row or fastest
    -- Placement may change the time of a step and never its result: the same weights, to the last bit.
    if row.digest ~= default.digest then error(("%s trains differently from %s"):format(row.label, default.label)) end
  end
end
print(("All placements on %d GPUs trained the same weights. Fastest: %s, %.2f times the rate of %s, which"):format(o.gpus,
  fastest.label, fastest.examples_per_s / default.examples_per_s, default.label))
print(("spends %.0f %% of a step on moving weights, outputs and gradients."):format(100 * mgb.db.query([[SELECT
  avg(share) AS share FROM (SELECT sum(exposed_share) AS share FROM phase_share WHERE segment_id = ? AND device LIKE '/gpu%'
  AND phase IN ('fetch', 'join', 'sum', 'wait') GROUP BY device)]], default.segment_id)[1].share))
