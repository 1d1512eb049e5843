-- A recurrent net whose first state is an input of its own: no layer keeps anything from batch to batch, so whoever wants
-- to go on where a sequence stopped hands the states in and takes them out. Both inputs are cut at the same rows; a batch of
-- 2 on 2 GPUs is one row each, and a last batch of 115 rows goes on 4 GPUs as well.
--     mgb.run{ model = "rnn_state", gpus = 2, global_batch = 2 }
-- { batch = 512 } asks for what Keras' stateful layers do, a state kept for so many rows: refused, with the reason.
return nn.model("rnn_state", function(m, opt)
  if opt.small then opt.width, opt.units, opt.seq = 4, 8, 5 end
  local x = m:input("x", { opt.seq, opt.width })
  local h, c = m:input("h", { opt.units }), m:input("c", { opt.units })
  local target = m:input("target", { 1 })
  local layer = nn.lstm{ units = opt.units, return_state = true, stateful = opt.batch > 0 or nil,
                         batch = opt.batch > 0 and opt.batch or nil }
  local y, h_last, c_last = layer(x, nil, h, c)
  local value = nn.dense{ units = 1, name = "value" }(y)
  m:output("value", value)
  m:output("h", h_last)                                      -- the next call's h and c
  m:output("c", c_last)
  m:loss(nn.mean_squared_error(value, target))
end, { options = { seq = 20, width = 32, units = 128, batch = 0, small = false } })
