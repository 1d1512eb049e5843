-- Uneven and tiny batches (ancestors.md 5.1). Row 1 (1000 rows, batch 333, 4 towers) is in tests/engine/exec/test_split.c.
local S = require "scenario"

local base = { model = S.small(), data = S.data(60, 10), optimizer = mgb.sgd{ lr = 0.05 } }

local function split_of(batch, gpus)
  local s <close> = mgb.session(S.with(base, { gpus = gpus, global_batch = batch }))
  s:step(2)
  return S.split(s)
end

-- Losses, and the weights, after steps with this split and on one GPU.
local function as_on_one(options, gpus, steps)
  local a <close> = mgb.session(S.with(options, { gpus = gpus }))
  local b <close> = mgb.session(S.with(options, { gpus = 1 }))
  local here, there = a:step(steps), b:step(steps)
  for i, loss in ipairs(there.losses) do S.near(here.losses[i], loss, 1e-5, "loss of step " .. i - 1) end
  for _, v in ipairs(mgb.model(options.model):summary().variables) do
    local mine = a:values(v.name)
    for i, value in ipairs(b:values(v.name)) do
      if math.abs(mine[i] - value) > 1e-5 * math.max(math.abs(value), 0.01) then S.near(mine[i], value, 1e-5, v.name) end
    end
  end
end

S.rows{
  { "2", "one sample evaluated on 2, 4, 8 GPUs: the same as on one; idle towers are shown and stored", function()
    local one = mgb.data.take(base.data, { count = 1, skip = 5 })
    local wanted
    for _, gpus in ipairs{ 1, 2, 4, 8 } do
      local s <close> = mgb.session(S.with(base, { gpus = gpus, global_batch = 1 }))
      local e = s:evaluate(one)
      wanted = wanted or e.loss
      S.equal(e.rows, 1, "rows evaluated")
      S.near(e.loss, wanted, 1e-6, "loss on " .. gpus)
      S.equal(S.split(s), "1" .. (" 0"):rep(gpus - 1), "rows of each tower")
      local stored = S.value("SELECT tower_rows FROM segment ORDER BY id DESC LIMIT 1")
      S.equal(stored, "[1" .. (",0"):rep(gpus - 1) .. "]", "rows of each tower, stored")
    end
  end },
  { "5", "a batch of 33 on 2 GPUs: 17 and 16", function() S.equal(split_of(33, 2), "17 16", "rows of each tower") end },
  { "7", "9 rows on 4 GPUs: 3 2 2 2, no empty replica", function()
    S.equal(split_of(9, 4), "3 2 2 2", "rows of each tower")
  end },
  { "9", "batch norm, 9 rows on 8 GPUs: finite, towers of one row warned about; 8 differ from one, under sync they do not", function()
    local normed = { model = S.small{ norm = true }, data = base.data, global_batch = 9 }
    local and_layer = " one row, and batch_norm 'batch_norm' nothing to normalise over there"
    for _, case in ipairs{ { gpus = 8, bn = "tower", named = "towers 1 to 7 have" .. and_layer },
                           { gpus = 5, bn = "tower", named = "tower 4 has" .. and_layer },
                           { gpus = 4, bn = "tower" }, { gpus = 8, bn = "sync" } } do
      local s <close> = mgb.session(S.with(normed, { gpus = case.gpus, bn = case.bn }))
      for _, loss in ipairs(s:step(10).losses) do S.equal(loss == loss and loss < math.huge, true, "finite loss") end
      local run = S.value("SELECT run_id FROM segment WHERE id = ?", s:step(1).segment_id)
      local notes = S.query("SELECT text FROM note WHERE text LIKE '%[one-row]' AND run_id = ?", run)
      local what = ("warning about one row on %d towers under %s"):format(case.gpus, case.bn)
      S.equal(#notes, case.named and 1 or 0, what)
      if case.named then S.equal(notes[1].text:sub(1, #case.named), case.named, what) end
    end
    local sides = S.with(normed, { a = { gpus = 1 }, b = { gpus = 8 }, steps = 5 })
    local v = mgb.verify(sides)
    S.equal(v.equal, false, "equal by tower")
    S.equal(tostring(v):find("'batch_norm/moving_mean' is of a batch norm", 1, true) ~= nil, true, "the reason in " .. tostring(v))
    S.equal(tostring(v):find("1 and 8 towers differ by that alone", 1, true) ~= nil, true, "the counts in " .. tostring(v))
    v = mgb.verify(S.with(sides, { bn = "sync" }))
    S.equal(v.equal, true, "equal under sync, " .. tostring(v))
    S.equal(v.statistics, nil, "reason")
  end },
  { "11", "evaluation drops no row, whatever the batch and the strategy", function()
    for _, strategy in ipairs{ "outputs", "gradients", "allreduce", "independent" } do
      local s <close> = mgb.session(S.with(base, { gpus = 3, global_batch = 7, strategy = strategy }))
      s:step(1)
      S.equal(s:evaluate(base.data).rows, 60, "rows under " .. strategy)
    end
  end },
  { "12", "13 rows on 2 GPUs: as on one; rows 1..5 on 2 + 3 give 3.0, where a mean of means gives 2.75", function()
    as_on_one(S.with(base, { global_batch = 13 }), 2, 3)
    for _, strategy in ipairs{ "outputs", "gradients", "allreduce" } do
      local weight, split = S.step_of({ 1, 2, 3, 4, 5 }, { gpus = 2, global_batch = 5, strategy = strategy })
      S.near(-weight, 3, 1e-6, "mean gradient under " .. strategy)
      S.equal(split, "3 2", "rows of each tower")
      -- Rows come in a drawn order; here every split has a mean of means that is not 1: 5/6 or 5/4.
      S.near(-S.step_of({ 0, 0, 0, 0, 5 }, { gpus = 2, global_batch = 5, strategy = strategy }), 1, 1e-6,
             "mean gradient under " .. strategy)
    end
  end },
  { "13", "rows 2 : 1 between two GPUs: the update of one GPU", function()
    as_on_one(S.with(base, { global_batch = 3 }), 2, 4)
    S.near(-S.step_of({ 1, 1, 4 }, { gpus = 2, global_batch = 3 }), 2, 1e-6, "mean gradient of 2 + 1 rows")
  end },
  { "17", "a layer that has the batch baked in: the error names layer, wanted and given sizes", function()
    local baked = nn.model("baked", function(m)
      local x, label = m:input("x", { 10 }), m:input("label", {}, "i32")
      local y = nn.reshape{ shape = { 32, 10 }, name = "baked_in" }(x)
      m:loss(nn.softmax_cross_entropy(nn.dense{ units = 2 }(nn.flatten(y)), label))
    end)
    S.fails(function() mgb.session{ model = baked, gpus = 2 } end, "baked_in", "32x10", "10")
  end },
}
