-- A model in training, and its placement changed under way: weights and optimizer state are carried over, each stretch
-- between two changes is a segment of its own in the database. This is what the keys of mgbench-tui do.
--     mgbench -e toggles.lua --gpus 2 --steps 20
local o = mgb.options{
  model = { "mnist_cnn", "the model to train" },
  gpus = { 2, "GPUs to begin with" },
  batch = { 32, "examples per GPU" },
  steps = { 12, "steps a segment" },
}

local s <close> = mgb.session{ model = o.model, gpus = o.gpus, batch = o.batch, warmup = 2,
                               optimizer = mgb.sgd{ lr = 0.01, momentum = 0.9 } }
local rows, times = {}, {}

-- When a GPU begins to compute (of the traced step) and ends its backward pass (mean of the timed ones), from the step's start.
-- How far apart the ends are is the skew: what the others wait for the last.
local function skew_read(what, id)
  local devices = mgb.db.query([[SELECT d.device, avg(d.finish_ns) / 1e6 AS finish_ms, (SELECT min(start_ns) / 1e6 FROM task
      WHERE segment_id = ?1 AND device = d.device AND phase = 'forward' AND kind = 'compute') AS start_ms
    FROM step_device d JOIN step s ON s.segment_id = d.segment_id AND s.step = d.step
    WHERE d.segment_id = ?1 AND s.warmup = 0 AND d.finish_ns IS NOT NULL AND d.device LIKE '%/gpu:%'
    GROUP BY d.device ORDER BY d.device]], id)
  local first, last
  for _, d in ipairs(devices) do
    first, last = math.min(first or d.finish_ms, d.finish_ms), math.max(last or d.finish_ms, d.finish_ms)
    d.what = what
    times[#times + 1] = d
  end
  return last and last - first
end

local function segment(what, change)
  local cost = change and s:set(change)
  local before = s:digest()
  local seg = s:step(o.steps)
  seg.what, seg.backend, seg.weights_at, seg.sum_at = what, s.backend, s.weights_at, s.sum_at
  seg.change_ms = cost and cost.total_ms
  seg.moved_mib = cost and cost.moved_bytes / 2 ^ 20
  seg.kept = not rows[#rows] or rows[#rows].after == before   -- a change moves weights, it does not touch them
  seg.after = s:digest()
  seg.skew_ms = skew_read(what, seg.segment_id)
  rows[#rows + 1] = seg
end

segment("as opened")
segment("merge on the first GPU", { cpu_merge = false })
segment("weights to the CPU", { cpu_relocation = true })
segment("back", { cpu_merge = true, cpu_relocation = false })
segment("one GPU more", { gpus = o.gpus + 1 })
segment("all-reduce", { strategy = "allreduce" })
mgb.table(rows, { "what", "segment_id", "weights_at", "sum_at", "step_ms", "change_ms", "moved_mib", "skew_ms", "kept", "loss" })
print("\nstart and finish of each GPU within a step, ms")
mgb.table(times, { "what", "device", "start_ms", "finish_ms" })
