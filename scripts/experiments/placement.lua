-- Where should the weights live, and where should the towers meet? The four answers of Keras' multi_gpu_model
-- (cpu_relocation x cpu_merge), trained on real digits, side by side, with one GPU as the baseline.
--     mgbench -e placement.lua --gpus 4 --batch 64        sqlite3 results.db 'select * from placement'
local o = mgb.options{
  model = { "mnist_cnn", "the model to train" },
  data = { "mnist", "what it trains on", choices = { "mnist", "digits", "random" } },
  gpus = { 2, "GPUs to split each batch over" }, batch = { 32, "examples per GPU" },
  steps = { 12, "timed steps a point" }, epochs = { 0, "train so many epochs instead" },
  repeats = { 1, "runs a point, interleaved; 5 give verdicts" },
  threads = { 0, "CPU threads a device, alike for all points; 0: the cores divided by the GPUs" },
}
local threads = o.threads > 0 and o.threads or math.max(1, mgb.cores // o.gpus)
local grid = { gpus = o.gpus > 1 and { 1, o.gpus } or { o.gpus }, cpu_relocation = { false, true }, cpu_merge = { true, false } }
local rows = mgb.sweep{
  name = "placement", model = o.model, data = mgb.data[o.data](), batch = o.batch, warmup = 3, grid = grid, threads = threads,
  steps = o.epochs == 0 and o.steps or nil, epochs = o.epochs > 0 and o.epochs or nil,
  optimizer = mgb.sgd{ lr = 0.05, momentum = 0.9 }, repeats = o.repeats,
  skip = function(p) return p.gpus == 1 and o.gpus > 1 and (p.cpu_relocation or not p.cpu_merge) end,
}
local columns = { "gpus", "cpu_relocation", "cpu_merge", "step_ms", "examples_per_s", "speedup", "efficiency", "loss", "outcome" }
if o.repeats > 1 then table.insert(columns, 8, "verdict") end
mgb.table(rows, columns)
print(("CPU devices have %d thread%s each at every point (--threads)."):format(threads, threads == 1 and "" or "s"))

local function ms(row) return row.over and row.over.step_ms or row.step_ms.median end

local function rate(row) return row.global_batch / ms(row) end -- of examples

-- Of the rows in the table: the default and the fastest placement on all GPUs, and the fastest on one.
local default, fastest, single, earlier, compared = nil, nil, nil, {}, 0
for _, row in ipairs(rows) do
  if row.resumed then earlier[#earlier + 1] = row.label end
  if row.outcome == "ok" and row.gpus ~= o.gpus then
    single = (not single or rate(row) > rate(single)) and row or single
  elseif row.outcome == "ok" then
    default, fastest = default or row, (not fastest or ms(row) < ms(fastest)) and row or fastest
    -- Placement may change the time of a step and never its result: the same weights, to the last bit.
    if row.digest and default.digest and row.digest ~= default.digest then
      error(("%s trains differently from %s"):format(row.label, default.label))
    end
    if row.digest and default.digest and row.repetition == 1 then compared = compared + 1 end
  end
end
if #earlier > 0 then print("Taken from an earlier run: " .. table.concat(earlier, "; ")) end
if not default then
  print(("No placement on %d GPUs came to its end."):format(o.gpus))
  return
end
print(("%d placements on %d GPUs trained the same weights."):format(compared, o.gpus))
if single and rate(single) >= rate(fastest) then
  print(("Fastest: one GPU, %.2f times the rate of the best placement on %d: more GPUs did not pay here."):format(
    rate(single) / rate(fastest), o.gpus))
elseif single then
  print(("The best placement on %d GPUs had %.2f times the rate of one GPU."):format(o.gpus, rate(fastest) / rate(single)))
end
if fastest == default then
  print(("Fastest on %d: the default, %s."):format(o.gpus, default.label))
else
  print(("Fastest on %d: %s,\n  %.2f times the rate of %s."):format(o.gpus, fastest.label, ms(default) / ms(fastest), default.label))
end
if o.repeats == 1 then
  print("None of this is judged: with one run a point, what differs may be chance. --repeats 5 gives verdicts.")
else
  print("Rates are of medians; whether a difference is more than noise is for the verdicts.")
end

-- What a step is bound by: what the slowest GPU computes, against what it and the CPU do for the exchange meanwhile idle.
local share = mgb.db.query([[SELECT max(compute) AS compute, max(exchange) + max(on_cpu) AS exchange FROM (SELECT
    sum(CASE WHEN phase IN ('forward', 'backward') AND device LIKE '%/gpu:%' THEN busy_share ELSE 0 END) AS compute,
    sum(CASE WHEN phase IN ('fetch', 'join', 'sum', 'update') AND device LIKE '%/gpu:%' THEN exposed_share ELSE 0 END) AS exchange,
    sum(CASE WHEN phase IN ('fetch', 'join', 'sum', 'update') AND device LIKE '%/cpu:%' THEN exposed_share ELSE 0 END) AS on_cpu
  FROM phase_share WHERE segment_id = ? GROUP BY device)]], default.segment_id)[1]
if share and share.compute then
  print(("%s:\n  computes for %.0f %% of a step, and moves or merges weights, outputs and\n  gradients for %.0f %%: it is %s bound.")
    :format(default.label, 100 * share.compute, 100 * share.exchange,
            share.exchange > share.compute and "communication" or "compute"))
end
