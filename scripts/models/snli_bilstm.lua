-- Does one sentence follow from another? ESIM (Chen et al., arXiv 1609.06038) for SNLI: one bidirectional LSTM reads both
-- sentences, each word looks for its like in the other sentence, a second LSTM reads what came of that.
--     mgb.run{ model = "snli_bilstm", batch = 32 }
-- 4,326,303 parameters are trained; word vectors are frozen. Word 0 is padding and is seen nowhere.
-- { peer = true }: the plainer net that tests/bench/models times beside PyTorch, 10,953,699 parameters, word vectors trained.
-- { lm_layers = 2 }: a frozen language model (BIGLSTM of arXiv 1602.02410 without its softmax, 0.3 GFLOP a word) reads the
-- sentences first and its states join the word vectors, as in the deep_qa thread: much work for few bytes of gradients.
local function sentence_pair(m, opt)
  return m:input("premise", { opt.words }, "i32"), m:input("hypothesis", { opt.words }, "i32"), m:input("label", {}, "i32")
end

local function finish(m, opt, x, label)
  local logits = nn.dense{ units = opt.classes, name = "logits" }(x)
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
  m:metric("accuracy", nn.accuracy(logits, label))
end

local function both_ways(opt, name)
  return nn.bidirectional{ layer = nn.lstm{ units = opt.units, return_sequences = true }, name = name }
end

local function peer(m, opt)
  local premise, hypothesis, label = sentence_pair(m, opt)
  local words = nn.embedding{ vocabulary = opt.vocabulary, units = opt.embedding, init = "normal", name = "words" }
  local read = both_ways(opt, "read")
  local function sentence(ids) return nn.max{ axis = 1 }(read(words(ids))) end
  local a, b = sentence(premise), sentence(hypothesis)
  local x = nn.concat(a, b, nn.abs(nn.sub(a, b)), nn.mul(a, b))
  for i = 1, 2 do
    x = nn.dense{ units = opt.hidden, activation = "relu", name = "dense" .. i }(x)
    x = nn.dropout{ rate = opt.peer_dropout }(x)
  end
  finish(m, opt, x, label)
end

-- The frozen reader: a function of ids and their mask that gives vectors, one a word.
local function language_model(m, opt)
  local layers = { nn.embedding{ vocabulary = opt.vocabulary, units = opt.lm_projection, init = "normal", name = "lm_words" } }
  for i = 1, opt.lm_layers do
    layers[i + 1] = nn.lstm{ units = opt.lm_units, projection = opt.lm_projection, return_sequences = true,
                             name = "lm" .. i }
  end
  for _, layer in ipairs(layers) do m:freeze(layer) end
  return function(ids, mask)
    local x = layers[1](ids)
    for i = 2, #layers do x = layers[i](x, mask) end
    return x
  end
end

-- Mean and largest of the words that are there.
local function pool(x, mask)
  local live = nn.reshape{ shape = { mask.shape[1], 1 } }(mask)
  local mean = nn.div(nn.sum{ axis = 1 }(nn.mul(x, live)), nn.add(nn.sum{ axis = 1 }(live), 1e-9))
  local most = nn.max{ axis = 1 }(nn.add(x, nn.mul(nn.sub(live, 1), 1e9))) -- padding is far below
  return mean, most
end

local function esim(m, opt)
  local premise, hypothesis, label = sentence_pair(m, opt)
  local words = nn.embedding{ vocabulary = opt.vocabulary, units = opt.embedding, init = "normal", mask_zero = true,
                              name = "words" }
  m:freeze(words)
  local model = opt.lm_layers > 0 and language_model(m, opt)
  local read, compose = both_ways(opt, "read"), both_ways(opt, "compose")
  local project = nn.dense{ units = opt.units, activation = "relu", name = "project" }
  local drop = nn.dropout{ rate = opt.dropout }
  local function encode(ids)
    local x, mask = words(ids)
    if model then x = nn.concat(x, model(ids, mask)) end
    return read(drop(x), mask), mask
  end
  local a, a_mask = encode(premise)
  local b, b_mask = encode(hypothesis)
  local align = nn.attention{ scale = 1, name = "align" }    -- no weights: each word's mean of the other sentence
  local a_like, b_like = align(a, b, b, b_mask), align(b, a, a, a_mask)
  local function compare(x, like, mask)
    local y = project(nn.concat(x, like, nn.sub(x, like), nn.mul(x, like)))
    return pool(compose(drop(y), mask), mask)
  end
  local a_mean, a_most = compare(a, a_like, a_mask)
  local b_mean, b_most = compare(b, b_like, b_mask)
  local x = drop(nn.concat(a_mean, a_most, b_mean, b_most))
  x = nn.dense{ units = opt.units, activation = "tanh", name = "dense" }(x)
  finish(m, opt, drop(x), label)
end

return nn.model("snli_bilstm", function(m, opt)
  if opt.small then -- for tests
    opt.vocabulary, opt.embedding, opt.units, opt.hidden, opt.words = 40, 8, 6, 12, 7
    opt.lm_units, opt.lm_projection = 10, 5
  end
  if opt.peer then peer(m, opt) else esim(m, opt) end
end, { options = { vocabulary = 20000, embedding = 300, units = 300, words = 30, classes = 3, dropout = 0.5, peer = false,
                   hidden = 1024, peer_dropout = 0.2, lm_layers = 0, lm_units = 8192, lm_projection = 1024, small = false } })
