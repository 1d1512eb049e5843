-- A recurrent language model: a table of words, an LSTM, and a softmax over the vocabulary at every position. The step is
-- mostly the last product, and most of its parameters are two tables as long as the vocabulary.
--     mgb.run{ model = "lstm_lm", batch = 20 }
-- 9,264,912 parameters as it stands; PyTorch and cuDNN count 2,048 more, a second bias that is added to the first.
-- models/lstm_lm_big.lua is the LSTM-2048-512 of Jozefowicz et al. (arXiv 1602.02410).
return nn.model("lstm_lm", function(m, opt)
  if opt.small then opt.vocabulary, opt.embedding, opt.units, opt.seq = 50, 12, 16, 7 end -- for tests
  local ids = m:input("ids", { opt.seq }, "i32")
  local label = m:input("label", { opt.seq }, "i32")         -- the word that follows each
  local x = nn.embedding{ vocabulary = opt.vocabulary, units = opt.embedding }(ids)
  x = nn.dropout{ rate = opt.dropout }(x)
  for _ = 1, opt.layers do
    x = nn.lstm{ units = opt.units, projection = opt.projection, return_sequences = true }(x)
    x = nn.dropout{ rate = opt.dropout }(x)
  end
  local logits = nn.dense{ units = opt.vocabulary, name = "logits" }(x) -- at each position
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
  m:metric("accuracy", nn.accuracy(logits, label))
end, { options = { vocabulary = 10000, embedding = 256, units = 512, projection = 0, layers = 1, seq = 32, dropout = 0.0,
                   small = false } })
