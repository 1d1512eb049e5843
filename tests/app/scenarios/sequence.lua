-- Recurrent models: states that come in beside the words are cut with them; sizes of the batch in a model are refused.
local S = require "scenario"

-- Words of one number, a state of 6 numbers, a class. `batch` and the like make mistakes.
local function tagger(name, layer, change, batch)
  return nn.model(name, function(m)
    local words, h, c = m:input("words", { 7 }, "i32", { batch = batch }), m:input("h", { 6 }), m:input("c", { 6 })
    local label = m:input("label", {}, "i32")
    local x, mask = nn.embedding{ vocabulary = 11, units = 5, mask_zero = true }(words)
    local y = layer(x, mask, h, c)
    if change then y = change(y) end
    local logits = nn.dense{ units = 3, name = "logits" }(y)
    m:output("logits", logits)
    m:loss(nn.softmax_cross_entropy(logits, label))
  end)
end

local function data(rows)
  local numbers, words, h, c, label = S.numbers(rows * 20), {}, {}, {}, {}
  for i = 1, rows do
    local at, w = (i - 1) * 20, {}
    for k = 1, 7 do w[k] = k > 1 + i % 7 and 0 or 1 + math.floor((numbers[at + k] + 0.5) * 10) end
    words[i], h[i] = w, table.move(numbers, at + 8, at + 13, 1, {})
    c[i], label[i] = table.move(numbers, at + 14, at + 19, 1, {}), i % 3
  end
  return mgb.data.rows{ words = words, h = h, c = c, label = label }
end

local function lstm() return nn.lstm{ units = 6, name = "enc" } end

local function losses_of(options) return mgb.run(options).losses end

local function as_on_one(options, gpus)
  local there = losses_of(S.with(options, { gpus = 1 }))
  local here = losses_of(S.with(options, { gpus = gpus }))
  S.equal(#here, #there, "steps")
  for i, loss in ipairs(there) do S.near(here[i], loss, 1e-4, "loss of step " .. i - 1) end
end

S.rows{
  { "K9", "a state input, batch 2 on 2 GPUs: one row a replica, the state cut with the words; losses as on one GPU", function()
    local base = { model = tagger("k9", lstm()), data = data(10), optimizer = mgb.sgd{ lr = 0.5 }, global_batch = 2,
                   epochs = 2 }
    as_on_one(base, 2)
    local s <close> = mgb.session({ model = base.model, data = base.data, global_batch = 2, gpus = 2 })
    s:step(1)
    S.equal(S.split(s), "1 1", "rows of each tower")
  end },
  { "4", "883 rows, batch 128, 2 and 4 GPUs, words and states: cut at the same rows, the last step has 115", function()
    local both = nn.bidirectional{ layer = nn.lstm{ units = 3 } }
    local base = { data = data(883), optimizer = mgb.sgd{ lr = 0.5 }, global_batch = 128, epochs = 1,
                   model = tagger("row4", lstm(), function(y) return nn.concat(y, both(nn.reshape{ shape = { 2, 3 } }(y))) end) }
    for _, gpus in ipairs{ 2, 4 } do as_on_one(base, gpus) end
    local r = mgb.run(S.with(base, { gpus = 4 }))
    S.equal(#r.losses, 7, "steps of the epoch")
    S.equal(S.value("SELECT examples FROM step WHERE segment_id = ? ORDER BY step DESC LIMIT 1", r.segment_id), 115,
            "rows of the last step")
  end },
  { "15", "a stateful layer for batches of 512 is refused before anything runs, and the 256 of 2 GPUs are named", function()
    S.fails(function()
      mgb.run{ model = tagger("row15", nn.lstm{ units = 6, name = "enc", stateful = true, batch = 512 }), gpus = 2,
               global_batch = 512, steps = 1 }
    end, "nn.lstm 'enc'", "stateful", "a batch of 512 is 256 and 256 rows on 2 GPUs", "layer(x, nil, h, c)")
  end },
  { "15", "an input for batches of 512: refused where towers would get 256, trained where each gets 512, before anything runs", function()
    local function fixed(batch) return tagger("row15", lstm(), nil, batch) end
    local base = { model = fixed(512), gpus = 2, steps = 1, warmup = 0 }
    S.fails(function() mgb.run(S.with(base, { global_batch = 512 })) end, "input 'words'", "batch of 512",
            "512 rows on 2 GPUs are 256 each", "declare it for 256")
    S.fails(function() mgb.run(S.with(base, { model = fixed(4), data = data(10) })) end, "2 rows on 2 GPUs are 1 each",
            "last batch of the data", "a multiple of 8 rows")
    S.equal(mgb.run(base).placement.effective.global_batch, 1024, "the global batch nobody gave")
    local s <close> = mgb.session{ model = fixed(4), gpus = 1, data = data(8) }
    S.fails(function() s:set{ batch = 3 } end, "3 rows on 1 GPU are another size")
    s:set{ gpus = 2 }
    S.equal(S.split(s), "4 4", "rows of each tower")
    S.fails(function() s:evaluate(data(9)) end, "1 row on 2 GPUs are 1 and 0")
    s:step(1)
  end },
  { "17", "a layer that has the batch in its shape: the error names the layer, what it wants and what it gets", function()
    S.fails(function()
      local model = tagger("row17", lstm(), function(y) return nn.reshape{ shape = { 512, 6 }, name = "fixed" }(y) end)
      mgb.run{ model = model, data = data(8), gpus = 2, global_batch = 8, steps = 1 }
    end, "reshape 'fixed'", "512x6", "6")
  end },
  { "-", "a word outside of the vocabulary is an error that names it, its layer and the vocabulary", function()
    S.fails(function()
      mgb.run{ model = tagger("words", lstm()), global_batch = 1, steps = 1,
               data = mgb.data.rows{ words = { { 1, 2, 30, 0, 0, 0, 0 } }, h = { { 0, 0, 0, 0, 0, 0 } },
                                     c = { { 0, 0, 0, 0, 0, 0 } }, label = { 0 } } }
    end, "number 30", "embedding 'embedding'", "'words'", "11 rows, 0 to 10")
  end },
  { "-", "a layer at every position is that layer called on each: losses and weights equal to the last bit", function()
    local function run(each)
      local model = nn.model("each", function(m)
        local x, target = m:input("x", { 3, 5, 5, 2 }), m:input("target", { 6 })
        local conv, y = nn.conv2d{ filters = 2, kernel = 3, name = "conv" }, nil
        if each then
          local parts = {}
          for i = 1, 3 do
            local one = nn.slice{ axis = 1, begin = i - 1, count = 1 }(x)
            parts[i] = nn.flatten(conv(nn.reshape{ shape = { 5, 5, 2 } }(one)))
          end
          y = nn.concat(table.unpack(parts))
        else
          y = nn.flatten(nn.time_distributed{ layer = conv }(x))
        end
        y = nn.dense{ units = 6, name = "out" }(y)
        m:output("y", y)
        m:loss(nn.mean_squared_error(y, target))
      end)
      return mgb.run{ model = model, gpus = 2, global_batch = 5, steps = 6, warmup = 0, optimizer = mgb.sgd{ lr = 0.1 } }
    end
    local there, here = run(true), run(false)
    S.equal(here.digest, there.digest, "digest")
    S.equal(here.loss, there.loss, "loss")
    S.equal(here.loss < here.losses[1], true, "that it learns")
  end },
}
