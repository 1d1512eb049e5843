-- The test file of Keras' multi_gpu_model as scenarios (ancestors.md 2), with what it never checked: losses, weights, bytes.
local S = require "scenario"

local data = S.data(1000, 10)
local base = { model = S.small(), data = data, optimizer = mgb.sgd{ lr = 0.05 } }
local eight = S.with(base, { gpus = 8, global_batch = 32 })
local one = S.with(base, { gpus = 1, global_batch = 32 })

-- Both inputs of two_in_two_out are cut at the same rows: the values of its metrics tell.
local function two_in_two_out(placement)
  local numbers, wide, narrow, target, label = S.numbers(1000 * 16), {}, {}, {}, {}
  for i = 1, 96 do
    wide[i] = table.move(numbers, i * 16 + 1, i * 16 + 10, 1, {})
    narrow[i] = table.move(numbers, i * 16 + 11, i * 16 + 15, 1, {})
    target[i], label[i] = { wide[i][1] * narrow[i][1] }, i % 2
  end
  local s <close> = mgb.session(S.with({ model = "two_in_two_out", global_batch = 48,
    data = mgb.data.rows{ wide = wide, narrow = narrow, target = target, label = label } }, placement))
  local seg = s:step(6)
  return seg.losses, seg.metrics
end

S.rows{
  { "K1", "1000 x 10, 8 GPUs, batch 32, 2 epochs: 32 steps an epoch, the last with one row a GPU; losses as on one GPU", function()
    local r = mgb.run(S.with(eight, { epochs = 2 }))
    S.equal(#r.losses, 64, "steps of two epochs")
    local last = S.query("SELECT * FROM step WHERE segment_id = ? AND epoch = 0 ORDER BY step DESC", r.segment_id)[1]
    S.equal(last.examples, 8, "rows of the last step")
    S.equal(last.step, 31, "last step of the first epoch")
    S.equal(S.value("SELECT count(finish_ns) FROM step_device WHERE segment_id = ? AND step = 31", r.segment_id), 8,
            "towers at work in the last step")
    local alone = mgb.run(S.with(one, { epochs = 2 }))
    S.near(r.losses[1], alone.losses[1], 1e-5, "loss of the first step")
    for i, loss in ipairs(alone.losses) do S.near(r.losses[i], loss, 1e-4, "loss of step " .. i - 1) end
  end },
  { "K2", "a running model on 8 GPUs goes on on 0, 2, 4: the others hold nothing, no new variable", function()
    local s <close> = mgb.session(eight)
    s:step(2)
    local before, variables = s:digest(), s:check().variables
    s.gpus = { 0, 2, 4 }
    S.equal(s:digest(), before, "digest after the change")
    S.equal(S.split(s), "11 11 10", "rows of each tower")
    for _, id in ipairs{ 1, 3, 5, 6, 7 } do S.equal(S.held(s, "/gpu:" .. id), 0, "bytes held on /gpu:" .. id) end
    S.equal(s:check().variables, variables, "variables")
    s:step(2)
  end },
  { "K3", "two inputs, two outputs, 8 GPUs, then 0, 2, 4: each output's loss as on one GPU", function()
    local losses, metrics = two_in_two_out{ gpus = 1 }
    for _, gpus in ipairs{ 8, { 0, 2, 4 } } do
      local here, of = two_in_two_out{ gpus = gpus }
      for i, loss in ipairs(losses) do S.near(here[i], loss, i == 1 and 1e-5 or 1e-4, "loss of step " .. i - 1) end
      for _, name in ipairs{ "value_loss", "label_loss", "accuracy" } do S.near(of[name], metrics[name], 1e-4, name) end
    end
  end },
  { "K4", "more GPUs than there are: wanted and present are named, nothing is allocated, the engine goes on", function()
    local s <close> = mgb.session(eight)
    s:step(1)
    local held, digest = S.held(s, "/gpu:0"), s:digest()
    S.fails(function() s.gpus = 20 end, "/gpu:19", "/gpu:15", "/cpu:0")
    S.fails(function() mgb.session(S.with(base, { gpus = 20 })) end, "/gpu:19", "/gpu:15")
    S.equal(s.gpus, 8, "GPUs after the refusal")
    S.equal(S.held(s, "/gpu:0"), held, "bytes held after the refusal")
    S.equal(s:digest(), digest, "digest after the refusal")
    s:step(1)
  end },
  { "K5", "a list with a GPU that is not there: the message names it", function()
    S.fails(function() mgb.session(S.with(base, { gpus = { 0, 2, 4, 6, 18 } })) end, "/gpu:18", "/gpu:15")
  end },
  { "K6", "a count of 1 runs, as the baseline: not parallel", function()
    local r = mgb.run(S.with(one, { steps = 2, warmup = 0 }))
    S.equal(r.parallel, false, "parallel")
    S.equal(r.outcome, "ok", "outcome")
  end },
  { "K7", "a list with one id runs on that id", function()
    local s <close> = mgb.session(S.with(base, { gpus = { 3 } }))
    s:step(1)
    S.equal(s.towers[1].device, "/gpu:3", "device")
    S.equal(S.held(s, "/gpu:0"), 0, "bytes held on /gpu:0")
  end },
  { "K10", "siamese: output names distinct and stable, the shared part is stored once", function()
    S.equal(table.concat(mgb.model("siamese"):summary().outputs, " "), "add nested_1 nested_2", "outputs")
    local s <close> = mgb.session{ model = "siamese", gpus = 4, batch = 3 }
    s:step(2)
    local check = s:check()
    S.equal(check.ok, true, "variable check")
    S.equal(check.variables, 4, "variables")
    S.equal(check.bytes, 4 * mgb.model("siamese"):summary().parameters, "bytes")
  end },
  { "K11", "a nested model fed from inside the engine: 4 rows a step, 3 steps, counted", function()
    local s <close> = mgb.session{ model = "nested", gpus = 2, global_batch = 4 }
    local seg = s:step(3)
    S.equal(s.step_index, 3, "steps")
    S.equal(S.value("SELECT count(*) FROM step WHERE segment_id = ?", seg.segment_id), 3, "steps stored")
    S.equal(S.value("SELECT sum(examples) FROM step WHERE segment_id = ?", seg.segment_id), 12, "examples stored")
  end },
  { "K12", "a sweep over GPU counts, trained and evaluated: baseline first, one row a count; memory is as at first between runs", function()
    local counts, held = { 1, 2, 4, 6, 8 }, {}
    local rows = mgb.sweep{ name = "k12", model = base.model, data = data, batch = 4, steps = 2, warmup = 1, threads = 1,
                            grid = { gpus = counts } }
    S.equal(#rows, #counts, "rows")
    for i, gpus in ipairs(counts) do
      S.equal(rows[i].gpus, gpus, "GPUs of row " .. i)
      S.equal(rows[i].outcome, "ok", "outcome of row " .. i)
      S.equal(rows[i].speedup ~= nil, true, "a speed-up in row " .. i)
    end
    S.equal(rows[1].speedup, 1, "speed-up of the baseline")
    for turn, gpus in ipairs{ 8, 1, 2, 4, 6, 8 } do
      local s <close> = mgb.session(S.with(base, { gpus = gpus, batch = 4 }))
      s:step(2)
      S.near(s:evaluate(data).loss, 1, 1, "loss in evaluation")
      for name, use in pairs(s:memory()) do
        if turn == 1 then held[name] = use.held end
        if gpus == 8 then S.equal(use.held, held[name], "bytes held on " .. name) end
      end
      for id = gpus, 7 do S.equal(S.held(s, "/gpu:" .. id), 0, "bytes held on /gpu:" .. id .. " beside " .. gpus) end
    end
  end },
  { "mem", "InceptionV3 and ResNet50, planned as in the thread: the clone and what it leaves on GPU 0 are 0.2 GB", function()
    for _, model in ipairs{ "inception_v3", "resnet50" } do
      local weights = 4 * mgb.model(model):summary().parameters
      local function plan(place)
        return mgb.plan(S.with({ model = model, like = "keras", gpus = 4, batch = 2 }, place))
      end
      local built = plan{}
      local cloned = plan{ cpu_relocation = true, relocation = "clone" }
      local moved = plan{ cpu_relocation = true, relocation = "move" }
      local on_gpu, on_cpu = cloned.gpu_bytes - moved.gpu_bytes, cloned.cpu_bytes - built.cpu_bytes
      S.near(on_gpu, weights, 0.01, "left on the GPU by cloning " .. model)
      S.near(on_cpu, weights, 0.01, "the clone on the CPU of " .. model)
      S.equal(moved.cpu_bytes, cloned.cpu_bytes, "bytes on the CPU when " .. model .. " is moved")
      S.equal(("%.1f"):format((on_gpu + on_cpu) / 1e9), "0.2", "GB of " .. model .. " in all")
    end
  end },
}
