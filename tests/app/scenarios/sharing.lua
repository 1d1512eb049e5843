-- Saving apart, what ancestors.md 5.2 and 5.3 tell of shared weights, names and metrics. Rows 27 and 31 are in
-- tests/engine/graph (test_tower.c, test_names.c), the checkpoints of 19 to 23 with the model collection.
local S = require "scenario"

local base = { model = S.small(), data = S.data(64, 10), optimizer = mgb.adam{ lr = 0.01 } }

local function names_of(session)
  local names, storages, bytes = {}, {}, {}
  for _, v in ipairs(session:variables()) do
    if v.role == "master" then names[#names + 1] = v.name end
    if v.role == "master" or v.role == "replica" then
      storages[v.storage] = true
      bytes[v.storage] = v.bytes
    end
  end
  local count, sum = 0, 0
  for storage in pairs(storages) do count, sum = count + 1, sum + bytes[storage] end
  return table.concat(names, " "), count, sum
end

S.rows{
  { "18", "4 steps with relocated weights: the model the user holds is the one that trained", function()
    local s <close> = mgb.session(S.with(base, { gpus = 2, batch = 8 }))
    local still <close> = mgb.session(S.with(base, { gpus = 2, batch = 8 }))
    local before = s:values("logits/kernel")
    s.cpu_relocation = true
    S.equal(s:digest(), still:digest(), "digest after relocation")
    s:step(4)
    still:step(4)
    S.equal(s:values("logits/kernel")[1] ~= before[1], true, "the weights moved on")
    S.equal(s:digest(), still:digest(), "digest after 4 steps")
    s.cpu_relocation = false
    S.equal(s:digest(), still:digest(), "digest after the way back")
  end },
  { "24", "names of variables are the same for 1 and N GPUs", function()
    local wanted
    for _, gpus in ipairs{ 1, 2, 5 } do
      for _, strategy in ipairs{ "outputs", "allreduce" } do
        local s <close> = mgb.session(S.with(base, { gpus = gpus, batch = 4, strategy = strategy }))
        local names = names_of(s)
        wanted = wanted or names
        S.equal(names, wanted, "names on " .. gpus .. " under " .. strategy)
      end
    end
  end },
  { "26", "1 to 8 GPUs: shared weights are stored once, mirrored ones N times, nothing else", function()
    local summary = mgb.model(base.model):summary()
    for gpus = 1, 8 do
      local shared <close> = mgb.session(S.with(base, { gpus = gpus, batch = 4 }))
      S.equal(shared:check().variables, #summary.variables, "variables, shared")
      S.equal(shared:check().bytes, 4 * summary.parameters, "bytes, shared")
      S.equal(shared:check().replicas, 1, "declared copies, shared")
      local mirrored <close> = mgb.session(S.with(base, { gpus = gpus, batch = 4, strategy = "allreduce" }))
      local _, count, bytes = names_of(mirrored)
      S.equal(mirrored:check().ok, true, "check, mirrored")
      S.equal(mirrored:check().replicas, gpus, "declared copies, mirrored")
      S.equal(count, gpus * #summary.variables, "storages, mirrored")
      S.equal(bytes, gpus * 4 * summary.parameters, "bytes, mirrored")
    end
  end },
  { "29", "a layer frozen while 2 GPUs train: it stops changing at the next step, the others do not", function()
    local s <close> = mgb.session(S.with(base, { gpus = 2, batch = 8 }))
    s:step(2)
    s:freeze("logits")
    local frozen, other = table.concat(s:values("logits/kernel"), " "), table.concat(s:values("dense/kernel"), " ")
    s:step(3)
    S.equal(table.concat(s:values("logits/kernel"), " ") == frozen, true, "the frozen layer stands")
    S.equal(table.concat(s:values("dense/kernel"), " ") ~= other, true, "the other layer trains")
    s:freeze("logits", false)
    s:step(1)
    S.equal(table.concat(s:values("logits/kernel"), " ") ~= frozen, true, "the layer trains again")
  end },
  { "32", "the summary is the user's model, placement is a table of its own", function()
    local text = tostring(mgb.model(base.model):summary())
    S.equal(text:find("gpu") or text:find("tower") or text:find("slice"), nil, "placement in the summary")
    S.equal(text:find("logits/kernel", 1, true) ~= nil, true, "layers in the summary")
    local s <close> = mgb.session(S.with(base, { gpus = 2, batch = 8 }))
    S.equal(s:variables()[1].device, "/gpu:0", "device in the table of variables")
  end },
  { "33", "accuracy is in 0..1 and the same on 1, 2, 4 GPUs; the loss does not grow with them", function()
    local accuracy, loss
    for _, gpus in ipairs{ 1, 2, 4 } do
      local r = mgb.run(S.with(base, { gpus = gpus, global_batch = 64, steps = 3, warmup = 0 }))
      accuracy, loss = accuracy or r.metrics.accuracy, loss or r.loss
      S.equal(r.metrics.accuracy >= 0 and r.metrics.accuracy <= 1, true, "accuracy in 0..1")
      S.near(r.metrics.accuracy, accuracy, 1e-6, "accuracy on " .. gpus)
      S.near(r.loss, loss, 1e-4, "loss on " .. gpus)
      S.near(r:evaluate(base.data).metrics.accuracy, r:evaluate(base.data).metrics.accuracy, 0, "accuracy, evaluated twice")
    end
  end },
  { "35", "examples, time and rows a tower are stored; examples/s is the one divided by the other", function()
    local r = mgb.run(S.with(base, { gpus = 3, global_batch = 10, steps = 9, warmup = 2 }))
    local row = S.query([[SELECT sum(examples) AS examples, sum(wall_ns) / 1e9 AS seconds FROM step
                           WHERE segment_id = ? AND warmup = 0]], r.segment_id)[1]
    S.near(r.examples_per_s, row.examples / row.seconds, 1e-6, "examples per second")
    S.near(S.value("SELECT examples_per_s FROM run_summary WHERE segment_id = ?", r.segment_id), r.examples_per_s, 1e-9,
           "examples per second of the view")
    S.equal(S.value("SELECT tower_rows FROM segment WHERE id = ?", r.segment_id), "[4,3,3]", "rows of each tower")
  end },
  { "-", "a bare variable trains the same for every placement and any number of threads, and like on one GPU", function()
    local model = nn.model("shifted", function(m)
      local x, label = m:input("x", { 10 }), m:input("label", {}, "i32")
      local shift = nn.parameter{ shape = { 10 }, name = "shift", init = "zeros" }
      local logits = nn.dense{ units = 2, name = "logits" }(nn.tanh(nn.add(shift, x)))
      m:output("logits", logits)
      m:loss(nn.softmax_cross_entropy(logits, label))
    end)
    local options = { model = model, data = base.data, optimizer = base.optimizer, global_batch = 10 }
    local wanted
    for _, places in ipairs(S.combinations) do
      for _, threads in ipairs{ 1, 2 } do
        places.threads, places.gpus = threads, 3
        local losses, digest = S.train(S.with(options, places), 5)
        wanted = wanted or { digest = digest, loss = losses[5] }
        S.equal(digest, wanted.digest, "digest")
      end
    end
    local s <close> = mgb.session(S.with(options, { gpus = 1 }))
    S.near(s:step(5).losses[5], wanted.loss, 1e-5, "loss on one GPU")
    S.equal(s:values("shift/value")[1] ~= 0, true, "the variable trains")
  end },
  { "36", "examples/s is total by time, never a mean of rates", function()
    local r = mgb.run(S.with(base, { gpus = 2, batch = 4, steps = 20, warmup = 0 }))
    local total, rates, n = 0, 0, 0
    for _, step in ipairs(S.query("SELECT wall_ns, examples FROM step WHERE segment_id = ?", r.segment_id)) do
      total, n = total + step.wall_ns, n + 1
      rates = rates + step.examples / (step.wall_ns / 1e9)
    end
    S.near(r.examples_per_s, 8 * n / (total / 1e9), 1e-6, "examples per second")
    S.equal(rates / n >= r.examples_per_s, true, "a mean of rates is never lower")
  end },
  { "38", "synthetic data is one batch: after 50 steps the loss is below half of the first", function()
    local losses = mgb.run{ model = "mlp", gpus = 2, batch = 8, steps = 50, warmup = 0,
                            optimizer = mgb.sgd{ lr = 0.1, momentum = 0.9 } }.losses
    S.equal(losses[50] < losses[1] / 2, true, "loss halved")
  end },
}
