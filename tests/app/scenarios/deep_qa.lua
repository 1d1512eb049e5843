-- The tests of deep_qa as scenarios (ancestors.md 3.2), by storage and bytes instead of by name.
local S = require "scenario"

local base = { model = S.small{ dropout = 0.2 }, data = S.data(100, 10), optimizer = mgb.sgd{ lr = 0.05, momentum = 0.9 } }

local function masters(session)
  local list, bytes = {}, 0
  for _, v in ipairs(session:variables()) do
    if v.role == "master" or v.role == "duplicate" then
      list[#list + 1] = v
      bytes = bytes + v.bytes
    end
  end
  return list, bytes
end

local function places(session, role)
  local seen = {}
  for _, v in ipairs(session:variables()) do
    if v.role == role then seen[v.device] = true end
  end
  local names = {}
  for name in pairs(seen) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, " ")
end

-- Inputs of rank 1, 2 and 3 cut at the same rows.
local ranks = nn.model("ranks", function(m)
  local one, two, three = m:input("one", { 4 }), m:input("two", { 2, 3 }), m:input("three", { 2, 2, 1 })
  local label = m:input("label", {}, "i32")
  local x = nn.concat(one, nn.flatten(two), nn.flatten(three))
  local logits = nn.dense{ units = 3, name = "logits" }(x)
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
end)

local function ranks_data(count)
  local rows, n = { one = {}, two = {}, three = {}, label = {} }, S.numbers(count * 14)
  for i = 1, count do
    local at = (i - 1) * 14
    rows.one[i], rows.two[i] = table.move(n, at + 1, at + 4, 1, {}), table.move(n, at + 5, at + 10, 1, {})
    rows.three[i], rows.label[i] = table.move(n, at + 11, at + 14, 1, {}), i % 3
  end
  return mgb.data.rows(rows)
end

S.rows{
  { "D2", "the batch changes at every step, with dropout: every row of the data is used once an epoch", function()
    local s <close> = mgb.session(S.with(base, { gpus = 3, global_batch = 7, warmup = 0 }))
    for _, batch in ipairs{ 7, 13, 1, 20, 2, 31, 5, 64 } do
      s.global_batch = batch
      s:step(1)
    end
    local r = S.query([[SELECT sum(examples) AS rows FROM step JOIN segment ON segment.id = segment_id
                         WHERE run_id = (SELECT max(id) FROM run) AND epoch = 0]])[1]
    S.equal(r.rows, 100, "rows used in the first epoch")
    S.equal(s.epoch, 1, "epoch")
  end },
  { "D3", "each thing goes to its place: weights and slots to the CPU, activations to the GPUs", function()
    local s <close> = mgb.session(S.with(base, { gpus = 2, batch = 8, cpu_relocation = true, cpu_merge = false }))
    s:step(1)
    S.equal(places(s, "master"), "/cpu:0", "home of the weights")
    S.equal(places(s, "slot"), "/cpu:0", "home of the slots")
    local memory = s:memory()
    for _, gpu in ipairs{ "/gpu:0", "/gpu:1" } do
      S.equal(memory[gpu].activations > 0, true, "activations on " .. gpu)
      S.equal(memory[gpu].weights, 0, "weights on " .. gpu)
    end
    S.equal(memory["/cpu:0"].weights > 0 and memory["/cpu:0"].activations == 0, true, "only weights on the CPU")
    s.update_at = "/gpu:1"
    S.equal(places(s, "master"), "/cpu:0", "home of the weights when they are updated elsewhere")
    S.equal(places(s, "slot"), "/gpu:1", "home of the slots when they are updated elsewhere")
    local scoped = nn.model("scoped", function(m)
      local x, label = m:input("x", { 10 }), m:input("label", {}, "i32")
      local h = nn.device("/cpu:0", nn.dense{ units = 4, name = "on_host" }, x)
      m:loss(nn.softmax_cross_entropy(nn.dense{ units = 2, name = "anywhere" }(h), label))
    end)
    local by_scope <close> = mgb.session{ model = scoped, data = base.data, gpus = 2, batch = 8 }
    for _, v in ipairs(by_scope:variables()) do
      if v.role == "master" then
        S.equal(v.device, v.scope == "on_host" and "/cpu:0" or "/gpu:0", "home of " .. v.name .. " by device scope")
      end
    end
  end },
  { "D4", "no variable without a device: all on the host when relocated, a known one each otherwise", function()
    for _, strategy in ipairs{ "outputs", "gradients", "allreduce", "independent" } do
      local s <close> = mgb.session(S.with(base, { gpus = 3, batch = 4, strategy = strategy }))
      for _, v in ipairs(s:variables()) do
        S.equal(v.device:match("^/[cg]pu:%d+$") ~= nil, true, v.name .. " has a device")
        S.equal(v.why ~= "", true, v.name .. " has a reason")
      end
    end
    local s <close> = mgb.session(S.with(base, { gpus = 3, batch = 4, weights_at = "/cpu:0" }))
    S.equal(places(s, "master"), "/cpu:0", "home of the weights")
  end },
  { "D5", "two GPUs store what one stores; an unshared layer is found", function()
    local one <close> = mgb.session(S.with(base, { gpus = 1, batch = 8 }))
    local two <close> = mgb.session(S.with(base, { gpus = 2, batch = 4 }))
    local list, bytes = masters(one)
    local other, other_bytes = masters(two)
    S.equal(#other, #list, "variables")
    S.equal(other_bytes, bytes, "bytes")
    for i, v in ipairs(list) do S.equal(other[i].name, v.name, "name") end
    local seen = {}
    for _, v in ipairs(other) do
      S.equal(seen[v.storage], nil, "storages that are the same")
      seen[v.storage] = true
    end
    S.equal(two:check().ok, true, "check of shared layers")
    local wrong <close> = mgb.session{ model = "siamese_unshared", gpus = 2, batch = 4 }
    local check = wrong:check()
    S.equal(check.ok, false, "check of an unshared layer")
    S.equal(check.duplicate_count, 2, "duplicates")
    S.equal(check.duplicate_bytes, (8 * 4 + 4) * 4, "bytes of the duplicates")
    S.equal(check[1].twin, "inner/kernel", "what is duplicated")
  end },
  { "D6", "the average of equal gradients is that gradient: exactly for 4 towers, within 1e-6 for 5", function()
    S.equal(S.step_of({ 3, 3, 3, 3 }, { gpus = 4, global_batch = 4 }), -3, "weight after the step, 4 towers")
    S.near(S.step_of({ 3, 3, 3, 3, 3 }, { gpus = 5, global_batch = 5 }), -3, 1e-6, "weight after the step, 5 towers")
  end },
  { "D10", "a batch of 32 is cut 8 8 8 8 in inputs of rank 1, 2 and 3, one of 33 is cut 9 8 8 8", function()
    for _, case in ipairs{ { 32, "8 8 8 8" }, { 33, "9 8 8 8" } } do
      local options = { model = ranks, data = ranks_data(66), global_batch = case[1] }
      local s <close> = mgb.session(S.with(options, { gpus = 4 }))
      S.equal(S.split(s), case[2], "rows of each tower")
      local seg = s:step(3)
      local losses = S.train(S.with(options, { gpus = 1 }), 3)
      for i, loss in ipairs(losses) do S.near(seg.losses[i], loss, 1e-5, "loss of step " .. i - 1) end
    end
  end },
}
