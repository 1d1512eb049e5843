-- Speed and memory (ancestors.md 5.6): what is shown and stored, so that people can tell. No time is asserted here.
local S = require "scenario"

local base = { model = "digits_cnn", data = mgb.data.digits{ split = "test" }, optimizer = mgb.sgd{ lr = 0.01 } }

local function bytes_between(traffic, from, to)
  for _, t in ipairs(traffic) do
    if t.from == from and t.to == to then return t.bytes end
  end
  return 0
end

local function phase_ns(segment, phase)
  return S.value(("SELECT sum(%s_busy_ns) FROM step_device WHERE segment_id = ?"):format(phase), segment) or 0
end

S.rows{
  { "57", "relocation switched on: step time before and after, and the bytes of a step, are shown and stored", function()
    local s <close> = mgb.session(S.with(base, { gpus = 2, batch = 8, warmup = 1 }))
    local before, plan_before = s:step(4), s:plan()
    local change = s:set{ cpu_relocation = true }
    local after, plan_after = s:step(4), s:plan()
    S.equal(before.step_ms.median > 0 and after.step_ms.median > 0, true, "two step times")
    S.equal(before.segment_id ~= after.segment_id, true, "two segments")
    S.equal(change.moved_bytes, 4 * mgb.model("digits_cnn"):summary().parameters, "bytes moved by the change")
    S.equal(bytes_between(plan_after.traffic, "/cpu:0", "/gpu:1") - bytes_between(plan_before.traffic, "/cpu:0", "/gpu:1"),
            4 * mgb.model("digits_cnn"):summary().parameters, "bytes a step more to the second tower: the weights")
    S.equal(S.value([[SELECT bytes_per_step FROM traffic WHERE segment_id = ? AND from_device = '/cpu:0'
                       AND to_device = '/gpu:1']], after.segment_id),
            bytes_between(plan_after.traffic, "/cpu:0", "/gpu:1"), "bytes a step, stored")
  end },
  { "58", "a sweep of batch x placement gives the batch from which two GPUs pay", function()
    local rows = mgb.sweep(S.with(base, { name = "row 58", steps = 3, warmup = 1,
      grid = { gpus = { 1, 2 }, global_batch = { 4, 32 }, cpu_relocation = { false, true } } }))
    S.equal(#rows, 8, "rows")
    local function rate(gpus, batch)
      local best = 0
      for _, row in ipairs(rows) do
        if row.gpus == gpus and row.global_batch == batch then best = math.max(best, row.examples_per_s) end
      end
      return best
    end
    local breakeven = "none of these"
    for _, batch in ipairs{ 32, 4 } do
      if rate(2, batch) > rate(1, batch) then breakeven = batch end
    end
    print("         break-even batch: " .. breakeven)
    S.equal(rows[3].global_batch == 32 and rows[3].gpus == 1 and not rows[3].cpu_relocation, true, "grid order")
    S.equal(rows[5].speedup ~= nil and rows[5].efficiency ~= nil, true, "speed-up against one GPU of the same batch")
  end },
  { "59", "share of computing in a step is stored, and a baseline without any exchange can be had", function()
    local rows = mgb.sweep(S.with(base, { name = "row 59", steps = 3, warmup = 1, gpus = 2, batch = 8,
                                          grid = { strategy = { "gradients", "independent" } } }))
    local share = S.value([[SELECT sum(busy_share) FROM phase_share WHERE segment_id = ? AND device = '/gpu:0'
                             AND phase IN ('forward', 'backward', 'update')]], rows[1].segment_id)
    S.equal(share > 0, true, "share of computing")
    S.equal(phase_ns(rows[1].segment_id, "sum") > 0, true, "gradients are exchanged")
    S.equal(phase_ns(rows[2].segment_id, "sum") + phase_ns(rows[2].segment_id, "join") +
            phase_ns(rows[2].segment_id, "fetch"), 0, "nothing is exchanged")
    S.equal(bytes_between(rows[2].traffic, "/gpu:0", "/gpu:1"), 0, "bytes between the GPUs")
  end },
  { "61", "when each device of a step finished is stored, so that skew is a number; traced steps have every start", function()
    local s <close> = mgb.session(S.with(base, { gpus = 3, batch = 4, warmup = 0 }))
    local seg = s:step(2, { trace_every = 2 })
    S.equal(S.value([[SELECT count(*) FROM (SELECT max(finish_ns) - min(finish_ns) AS skew FROM step_device
                       WHERE segment_id = ? GROUP BY step) WHERE skew >= 0]], seg.segment_id), 2, "steps with a skew")
    S.equal(S.value("SELECT count(DISTINCT device) FROM task WHERE segment_id = ? AND phase = 'forward' AND start_ns >= 0",
                    seg.segment_id) >= 3, true, "devices with start times")
  end },
  { "62", "a meaningless mix is refused; what is parked is stored beside what is in effect", function()
    S.fails(function() mgb.session(S.with(base, { gpus = 2, strategy = "allreduce", weights_at = "/cpu:0" })) end,
            "weights_at", "allreduce")
    local s <close> = mgb.session(S.with(base, { gpus = 2, batch = 4, weights_at = "/cpu:0" }))
    s.strategy = "allreduce"
    local seg = s:step(1)
    local row = S.query("SELECT asked_weights_at, weights_at, strategy FROM segment WHERE id = ?", seg.segment_id)[1]
    S.equal(row.asked_weights_at, "/cpu:0", "weights_at as asked")
    S.equal(row.weights_at, nil, "weights_at in effect")
    S.equal(s:placement().asked.weights_at, "/cpu:0", "weights_at as asked, in the script")
    s.strategy = "outputs"
    S.equal(s.weights_at, "/cpu:0", "weights_at, back in force")
  end },
  { "63", "advice comes from measurement only: what was not measured is empty, not guessed", function()
    mgb.sweep(S.with(base, { name = "row 63", steps = 2, warmup = 0, gpus = 2, batch = 5, grid = { cpu_merge = { true, false } } }))
    local row = S.query("SELECT * FROM placement WHERE gpus = 2 AND batch_per_gpu = 5 AND strategy = 'outputs'")[1]
    S.equal(row.reloc_off_merge_cpu ~= nil and row.reloc_off_merge_gpu ~= nil, true, "what was measured")
    S.equal(row.reloc_on_merge_cpu == nil and row.reloc_on_merge_gpu == nil, true, "what was not")
  end },
  { "64", "a fixed global batch and a fixed batch per GPU are kept apart, each against its own baseline", function()
    local weak = mgb.sweep(S.with(base, { name = "row 64", steps = 2, batch = 8, grid = { gpus = { 1, 2 } } }))
    local strong = mgb.sweep(S.with(base, { name = "row 64", steps = 2, global_batch = 8, grid = { gpus = { 1, 2 } } }))
    S.equal(weak[2].batch_mode .. weak[2].global_batch, "weak16", "weak scaling of two GPUs")
    S.equal(strong[2].batch_mode .. strong[2].global_batch, "strong8", "strong scaling of two GPUs")
    for _, rows in ipairs{ weak, strong } do
      local alone, both = rows[1].step_ms.median / rows[1].global_batch, rows[2].step_ms.median / rows[2].global_batch
      S.near(rows[2].speedup, alone / both, 1e-12, "speed-up")
      S.near(rows[2].efficiency, rows[2].speedup / 2, 1e-12, "efficiency")
    end
    S.equal(S.value("SELECT count(DISTINCT batch_mode) FROM scaling WHERE gpus = 2 AND global_batch IN (8, 16)"), 2, "modes stored")
  end },
  { "65", "waiting for input is a phase of its own", function()
    local r = mgb.run(S.with(base, { gpus = 2, batch = 16, steps = 4, warmup = 0 }))
    S.equal(phase_ns(r.segment_id, "input") > 0, true, "time of the input phase")
    S.equal(S.value("SELECT count(*) FROM step_phase WHERE segment_id = ? AND phase = 'input'", r.segment_id) > 0, true,
            "rows of the input phase")
  end },
  { "66", "time and memory of two places of the weights stand side by side", function()
    local rows = mgb.sweep(S.with(base, { name = "row 66", steps = 2, gpus = 2, batch = 8, grid = { cpu_relocation = { false, true } } }))
    local parameters = 4 * mgb.model("digits_cnn"):summary().parameters
    S.equal(rows[1].memory["/gpu:0"].weights >= parameters and rows[2].memory["/cpu:0"].weights >= parameters, true, "weights")
    S.equal(rows[2].memory["/gpu:0"].weights, 0, "weights on the GPU after relocation")
    mgb.table(rows, { "cpu_relocation", "step_ms", "memory./gpu:0.peak", "memory./cpu:0.peak" })
    local stored = S.query("SELECT gpu_peak_bytes, cpu_peak_bytes, step_ms_median FROM run_summary WHERE segment_id = ?",
                           rows[1].segment_id)[1]
    S.equal(stored.gpu_peak_bytes > 0 and stored.cpu_peak_bytes > 0 and stored.step_ms_median > 0, true, "stored together")
  end },
  { "67", "what the merge device needs more is called merge", function()
    -- A few rows: of many, how activations are packed on either outweighs it.
    local s <close> = mgb.session(S.with(base, { gpus = 3, batch = 2, cpu_merge = false }))
    s:step(1)
    local memory = s:memory()
    S.equal(memory["/gpu:0"].merge > 0, true, "merge buffers on the merge device")
    S.equal(memory["/gpu:0"].merge > memory["/gpu:1"].merge, true, "more than on the others")
    S.equal(memory["/gpu:0"].planned > memory["/gpu:1"].planned, true, "the surplus of the merge device")
  end },
}
