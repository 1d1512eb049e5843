-- From which batch on does a second placement pay? The larger the batch, the less the exchange weighs; where the two rates
-- cross is the break-even batch. As it stands: several GPUs against one, which compares the same batch of each GPU.
--     mgbench -e batch.lua --gpus 2 --batches 8,16,32,64,128
--     mgbench -e batch.lua --against merge       towers that meet on the first GPU against towers that meet on the CPU
local o = mgb.options{
  model = { "mnist_cnn", "the model to train" },
  gpus = { 2, "GPUs of the placement in question" },
  batches = { { 8, 16, 32, 64 }, "examples of all GPUs together" },
  against = { "one", "what it is compared with", choices = { "one", "merge", "relocation" } },
  steps = { 12, "timed steps a point" },
  threads = { 0, "CPU threads a device, alike on both sides; 0: the cores divided by the GPUs" },
}
local threads = o.threads > 0 and o.threads or math.max(1, mgb.cores // o.gpus)
-- The placement in question, and what it is measured against.
local sides = { one = { { gpus = o.gpus }, { gpus = 1 } },
                merge = { { gpus = o.gpus, cpu_merge = false }, { gpus = o.gpus, cpu_merge = true } },
                relocation = { { gpus = o.gpus, cpu_relocation = true }, { gpus = o.gpus, cpu_relocation = false } } }

local function rows_of(side, name)
  local options = { name = "batch " .. o.against .. " " .. name, model = o.model, steps = o.steps, warmup = 3, threads = threads,
                    grid = { global_batch = o.batches } }
  for key, value in pairs(side) do options[key] = value end
  return mgb.sweep(options)
end

local new, old = rows_of(sides[o.against][1], "new"), rows_of(sides[o.against][2], "old")
local rows, pays, fails = {}, nil, nil
for i, batch in ipairs(o.batches) do
  local ratio = new[i].outcome == "ok" and old[i].outcome == "ok" and old[i].step_ms.median / new[i].step_ms.median or nil
  rows[i] = { global_batch = batch, new_ms = new[i].step_ms, old_ms = old[i].step_ms, ratio = ratio, backend = new[i].backend }
  if ratio and ratio >= 1 then pays = pays or batch elseif ratio then pays, fails = nil, batch end
end
mgb.table(rows, { "global_batch", "new_ms", "old_ms", "ratio" })
print(("CPU devices have %d thread%s each on both sides (--threads)."):format(threads, threads == 1 and "" or "s"))

local words = { one = ("%d GPUs against one"):format(o.gpus), merge = "meeting on the first GPU against meeting on the CPU",
                relocation = "weights on the CPU against weights on the first GPU" }
print(("break-even batch of %s: %s"):format(words[o.against],
  pays and fails and ("between %d and %d"):format(fails, pays) or pays and ("%d or below"):format(pays) or
  fails and ("above %d"):format(fails) or "not found, nothing ran to its end"))
