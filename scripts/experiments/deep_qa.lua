-- The table of the deep_qa thread: how many examples a second, and which batch fits on a GPU at all. There 32 and 64
-- examples fitted on one GPU and 128 did not, and two GPUs took 64 each.
--     mgbench -e deep_qa.lua                    mgbench -e deep_qa.lua --lm_layers 2       with the frozen language model
-- Nobody wrote down how much memory those GPUs had for the step, so the limit here is derived, by one rule: the devices have
-- just what the plan of the largest configuration that ran there (four GPUs, 64 each) holds on its fullest GPU. Which of the others
-- fit then is the planner's answer and the run's, which must agree. On CPU devices the limit is kept just the same.
local o = mgb.options{
  model = { "snli_bilstm", "the model to train" },
  small = { false, "its small variant, for a test" },
  lm_layers = { 0, "layers of the frozen language model in front; 0: none" },
  batch = { 32, "the smallest batch of a GPU; twice and four times as much are tried too" },
  steps = { 3, "timed steps a row" },
  threads = { 0, "CPU threads a device, alike in all rows; 0: one" },
}
local options = { small = o.small or nil, lm_layers = o.lm_layers > 0 and o.lm_layers or nil }
local model = next(options) and mgb.model(o.model, options) or mgb.model(o.model)

-- Rows of the thread: GPUs, batch for each in its smallest, examples a second there (nil: out of memory).
local thread = { { 1, 1, 24.6 }, { 1, 2, 45.7 }, { 1, 4 }, { 2, 1, 46.6 }, { 2, 2, 86.9 }, { 4, 2, 174.6 } }

local function settings(gpus, times, limit)
  return { model = model, like = "deep_qa", gpus = gpus, batch = times * o.batch, gpu_memory = limit, steps = o.steps, warmup = 1,
           threads = math.max(1, o.threads), expect = "oom" }
end

local largest = mgb.plan(settings(4, 2))
local limit = ("%dB"):format(largest.gpu_bytes)
print(("device memory: %.1f MiB, what %d examples for each of 4 GPUs hold on %s"):format(largest.gpu_bytes / 2 ^ 20, 2 * o.batch,
  largest.fullest_gpu))

local rows, same = {}, true
for i, row in ipairs(thread) do
  local asked = settings(row[1], row[2], limit)
  local planned, r = mgb.plan(asked).fits, mgb.run(asked)
  if planned ~= (r.outcome == "ok") then error(("plan and run disagree: %s"):format(r.outcome)) end
  same = same and planned == (row[3] ~= nil)
  rows[i] = { gpus = row[1], batch = asked.batch, outcome = r.outcome, examples_per_s = r.examples_per_s, needed = r.oom and r.oom.needed,
              thread = row[3] or "OOM", backend = r.backend }
end
mgb.table(rows, { "gpus", "batch", "outcome", "examples_per_s", "needed", "thread" })
print(("on one GPU at most %d examples fit"):format(mgb.max_batch(settings(1, 1, limit))))
print(same and "the same rows fit as in the thread" or "other rows fit than in the thread")
