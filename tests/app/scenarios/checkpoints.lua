-- Checkpoints as users meet them: K8, D1 and the rows 19 to 24 of ancestors.md, and what the record keeps of them.
local S = require "scenario"

local file = "w.safetensors"
local normed = { model = S.small{ norm = true }, data = S.data(60, 10), global_batch = 12 }
local digits = { model = "digits_cnn", data = mgb.data.digits{}, optimizer = mgb.adam{ lr = 0.001 }, global_batch = 48 }

local function saved(options, steps)
  local s <close> = mgb.session(options)
  s:step(steps)
  s:save(file)
  return s:digest(), s:evaluate(digits.data)
end

-- The bytes of a file.
local function content(path)
  local f <close> = assert(io.open(path, "rb"))
  return f:read("a")
end

S.rows{
  { "K8", "train, predict, save, clear, load on other GPU counts and on the host alone: predictions equal", function()
    local digest, before = saved(S.with(digits, { gpus = 2 }), 30)
    for _, place in ipairs{ { gpus = 1 }, { gpus = 3 }, { gpus = 4, strategy = "allreduce" }, { gpus = 0 },
                            { gpus = 1, weights_at = "/cpu:0", merge_at = "/cpu:0" } } do
      local s <close> = mgb.session(S.with(digits, place))
      local loaded = s:load(file)
      S.equal(loaded.tensors, 6, "tensors loaded")
      S.equal(s:digest(), digest, "digest")
      local after = s:evaluate(digits.data)
      S.near(after.loss, before.loss, 1e-5, "loss of all rows")
      S.equal(after.metrics.accuracy, before.metrics.accuracy, "accuracy")
    end
  end },
  { "D1", "made on 2, loaded on 1 by somebody with another optimizer: evaluates, trains from the start of its own", function()
    local _, before = saved(S.with(digits, { gpus = 2 }), 10)
    local s <close> = mgb.session{ model = "digits_cnn", data = digits.data }
    local loaded = s:load(file)
    S.equal(loaded.resumed, false, "resumed")
    S.equal(s.step_index, 0, "steps")
    S.near(s:evaluate(digits.data).loss, before.loss, 1e-5, "loss of all rows")
    S.fails(function() s:load(file, { optimizer = true }) end, "state of adam with 2 slots, this run has sgd with 0")
  end },
  { "19", "load, toggle relocation, step with rate 0: the digest is the file's", function()
    saved(S.with(digits, { gpus = 2, optimizer = mgb.sgd{ lr = 0.1 } }), 5)
    local s <close> = mgb.session(S.with(digits, { gpus = 2, optimizer = mgb.sgd{ lr = 0 } }))
    s:load(file)
    local digest = s:digest()
    s.cpu_relocation = true
    s:step(2)
    S.equal(s:digest(), digest, "digest")
  end },
  { "20", "made on N GPUs, loaded on M, all of 0 to 4 (0: the host alone); what matches no tensor is an error", function()
    for n = 0, 4 do
      local digest = saved(S.with(digits, { gpus = n }), 2)
      for m = 0, 4 do
        local s <close> = mgb.session(S.with(digits, { gpus = m }))
        s:load(file)
        S.equal(s:digest(), digest, ("digest of %d on %d"):format(n, m))
        S.equal(s.towers[1].device, m == 0 and "/cpu:0" or "/gpu:0", "device of the first tower")
      end
    end
    local s <close> = mgb.session{ model = S.line, data = mgb.data.rows{ x = { 1, 2 }, t = { 1, 2 } } }
    S.fails(function() s:load(file, { strict = false }) end, "no tensor of 'w.safetensors' is of model 'line'", "'w/kernel'")
    S.fails(function() mgb.run{ model = "mnist_cnn", load = file } end, "tensor 'conv2d_1/kernel' is 3x3x1x16", "3x3x1x32")
    local m <close> = mgb.session{ model = "mlp" }
    S.fails(function() m:load(file) end, "'logits/kernel' is 512x10 in 'w.safetensors' and 128x10 in model 'mlp'")
  end },
  { "21", "a checkpoint at every step while flags change: each file loads", function()
    local s <close> = mgb.session(S.with(digits, { gpus = 2 }))
    local flags = { { cpu_merge = false }, { cpu_relocation = true }, { gpus = 3 }, { strategy = "allreduce" },
                    { strategy = "gradients", gpus = 1 } }
    for i, change in ipairs(flags) do
      s:step(1)
      s:set(change)
      s:save(("w%d.safetensors"):format(i))
      local t <close> = mgb.session(digits)
      t:load(("w%d.safetensors"):format(i))
      S.equal(t:digest(), s:digest(), "digest " .. i)
      S.equal(t.step_index, i, "steps")
    end
  end },
  { "22", "the file has no placement and is the same for the same weights; names are the same for 1 and N", function()
    local first
    for _, gpus in ipairs{ 1, 2, 5 } do
      saved(S.with(digits, { gpus = gpus }), 1)
      local text = content(file):match("^........({.-}})%s*")
      first = first or text
      S.equal(text, first, "header with " .. gpus .. " GPUs")
      for _, word in ipairs{ "gpu", "tower", "replica", "module", "cpu" } do
        S.equal(text:find(word, 1, true), nil, "place of " .. word)
      end
    end
  end },
  { "23", "Adam, stopped at step 50, resumed on other GPU counts: goes on as uninterrupted", function()
    local rate = function(step) return step < 53 and 0.001 or 0.0001 end
    local options = S.with(digits, { gpus = 2, optimizer = mgb.adam{ schedule = rate } })
    local s <close> = mgb.session(options)
    s:step(50)
    s:save(file)
    local whole, digest = s:step(6).losses, s:digest()
    for _, gpus in ipairs{ 2, 1, 3 } do
      local r = mgb.run(S.with(options, { gpus = gpus, load = file, steps = 6, warmup = 0 }))
      S.equal(r.loaded.resumed, true, "resumed")
      for i = 1, 6 do S.near(r.losses[i], whole[i], gpus == 2 and 0 or 1e-5, "loss of step " .. 49 + i) end
      if gpus == 2 then S.equal(r.digest, digest, "digest") end
      S.equal(S.value("SELECT first_step FROM segment WHERE id = ?", r.segment_id), 50, "first step of the segment")
    end
    s:load(file) -- and the session itself goes back
    local again = s:step(6).losses
    for i = 1, 6 do S.equal(again[i], whole[i], "loss of step " .. 49 + i .. " again") end
  end },
  { "24", "towers that share nothing save tower 0's variables, under the names that one tower has", function()
    local options = { model = "siamese_unshared", batch = 4, build = "tower" }
    local one <close> = mgb.session(S.with(options, { gpus = 1 }))
    one:step(1)
    one:save("one.safetensors")
    local three <close> = mgb.session(S.with(options, { gpus = 3 }))
    three:load("one.safetensors")
    for _, v in ipairs(one:variables()) do
      if v.role == "master" then
        local a, b = one:values(v.name), three:values(v.name)
        for i = 1, #a do S.equal(b[i], a[i], v.name) end
      end
    end
    three:step(1)
    three:save("three.safetensors")
    one:load("three.safetensors")
  end },
  { "39", "after 10 steps moving statistics are the same on all devices, and the file says what they are of", function()
    for bn, said in pairs{ tower = "parts of the batch, mean by rows", sync = "global batch" } do
      for _, strategy in ipairs{ "allreduce", "gradients", "outputs" } do
        local s <close> = mgb.session(S.with(normed, { gpus = 3, strategy = strategy, bn = bn }))
        s:step(10)
        S.equal(s:check().ok, true, "copies under " .. strategy) -- it raises where they differ in value
        s:save(file)
        S.equal(content(file):match('"moving_statistics":"(.-)"'), said, bn .. " under " .. strategy)
      end
    end
  end },
  { "40", "which tower's moving average is saved is stated; a model without any states nothing", function()
    for said, place in pairs{ ["global batch"] = { gpus = 1 },
                              ["first part of the batch alone"] = { gpus = 3, strategy = "independent" } } do
      local s <close> = mgb.session(S.with(normed, place))
      s:step(2)
      s:save(file)
      S.equal(content(file):match('"moving_statistics":"(.-)"'), said, "what is stated")
    end
    saved(digits, 1)
    S.equal(content(file):find("moving_statistics", 1, true), nil, "a statement of digits_cnn")
  end },
  { "rec", "what was saved and loaded is noted; a load begins a new segment; no step is there twice", function()
    local s <close> = mgb.session(digits)
    local first = s:step(3).segment_id
    s:save(file)
    s:load(file)
    local second = s:step(3).segment_id
    S.equal(second == first, false, "the same segment")
    local run = S.value("SELECT run_id FROM segment WHERE id = ?", first)
    local notes = S.query("SELECT text FROM note WHERE run_id = ? ORDER BY id", run)
    S.equal(#notes, 2, "notes")
    S.equal(notes[1].text:match("^saved w%.safetensors at step 3, digest %x+$") ~= nil, true, "note of saving")
    S.equal(notes[2].text, (notes[1].text:gsub("^saved", "loaded")), "note of loading")
  end },
  { "part", "half a model: strict = false tells what was left, strict refuses; a run that has ended saves, loads no more", function()
    local small, wide = S.small(), nn.model("wide", function(m)
      local x, label = m:input("x", { 10 }), m:input("label", {}, "i32")
      local h = nn.dense{ units = 12, activation = "tanh" }(x)
      m:loss(nn.softmax_cross_entropy(nn.dense{ units = 2, name = "other" }(h), label))
    end)
    local data = S.data(40, 10)
    local r <close> = mgb.run{ model = small, data = data, steps = 2, warmup = 0 }
    r:save(file)
    S.equal(r.load, nil, "load of a result")
    local s <close> = mgb.session{ model = wide, data = data }
    S.fails(function() s:load(file) end, "only the model has 'other/kernel', 'other/bias'", "only the file has 'logits/bias'")
    local loaded = s:load(file, { strict = false })
    S.equal(table.concat(loaded.missing, " "), "other/kernel other/bias", "missing")
    S.equal(#loaded.unexpected, 4, "unexpected")
    S.fails(function() s:load(file, { strickt = false }) end, "strict")
    S.fails(function() s:load() end, "the name of a file expected")
    S.fails(function() s:save("/tmp/elsewhere.safetensors") end, "scripts write only under the output folder")
    S.fails(function() s:save(".") end, "is a folder")
  end },
}
