-- Data of words: a text and pairs of sentences train models that take the size of their vocabulary from them.
local S = require "scenario"

local function falls(r, what)
  local first, last = 0, 0
  for i = 1, 5 do first, last = first + r.losses[i], last + r.losses[#r.losses + 1 - i] end
  S.equal(last < 0.95 * first, true, ("%s: loss from %.3f to %.3f, lower"):format(what, first / 5, last / 5))
end

local function language_model(data, options)
  options.vocabulary = data.vocabulary
  return mgb.model("lstm_lm", options)
end

S.rows{
  { "char", "an lstm reads the novel by characters: the vocabulary fits and the loss falls, alike on two towers", function()
    local novel = mgb.data.text{ seq = 16 }
    local base = { model = language_model(novel, { embedding = 8, units = 16, seq = 16 }), data = novel, global_batch = 8, steps = 30,
                   warmup = 0, optimizer = mgb.adam{ lr = 0.02 } }
    local one, two = mgb.run(S.with(base, { gpus = 1 })), mgb.run(S.with(base, { gpus = 2 }))
    falls(one, "characters")
    for i, loss in ipairs(one.losses) do S.near(two.losses[i], loss, 1e-3, "loss of step " .. i - 1) end
  end },
  { "word", "by words, all but the most frequent 200 unknown; part of it is evaluated, mapped data trains", function()
    local novel = mgb.data.text{ unit = "word", vocabulary = 200 }
    local s <close> = mgb.session{ model = language_model(novel, { embedding = 8, units = 16, seq = 8 }), data = novel, batch = 8,
                                   optimizer = mgb.adam{ lr = 0.02 } }
    falls(s:step(30), "words")
    local part = mgb.data.take(novel, { count = 20, skip = 5 })
    S.equal(s:evaluate(part).loss > 0, true, "a loss of rows 5 to 24")
    local backwards = mgb.data.map(part, function(row) row.ids, row.label = row.label, row.ids return row end)
    S.equal(s:evaluate(backwards).loss > 0, true, "a loss of mapped rows")
  end },
  { "pairs", "a dozen pairs of sentences train the model of SNLI, and another file uses their words", function()
    local pairs = mgb.data.jsonl{}
    local r = mgb.run{ model = mgb.model("snli_bilstm", { small = true, peer = true, vocabulary = 40 }),
                       data = mgb.data.jsonl{ vocabulary = 40 }, batch = 6, steps = 30, warmup = 0, optimizer = mgb.adam{ lr = 0.02 } }
    falls(r, "pairs")
    S.equal(pairs.skipped, 1, "pairs without a label")
    S.equal(mgb.data.jsonl{ vocabulary = pairs }.vocabulary, pairs.vocabulary, "vocabulary of the other")
  end },
  { "size", "a vocabulary that the model has no room for is refused with both sizes", function()
    local ok, message = pcall(mgb.run, { model = mgb.model("lstm_lm", { small = true }), data = mgb.data.text{}, steps = 1 })
    S.equal(ok, false, "it ran")
    S.equal(tostring(message):find("has a vocabulary of 75, but input 'ids' of model 'lstm_lm' takes numbers 0 to 49", 1, true) ~= nil,
            true, "the sizes in " .. tostring(message))
  end },
}
