-- GPT-2 (Radford et al., 2019), the small one as it stands: 12 blocks, 124,439,808 parameters, of which a third is the table of
-- words. That table is used twice, to read words and, transposed, to score them: both gradients add up in it.
--     mgb.run{ model = mgb.model("gpt2", { seq = 256 }), batch = 1 }
-- The medium one: { layers = 24, width = 1024, heads = 16 }: 354,823,168.
local function block(x, opt)
  local normal = { "normal", 0.02 }
  local y = nn.layer_norm{ epsilon = 1e-5, name = "norm_attention" }(x)
  y = nn.attention{ heads = opt.heads, causal = true, dropout = opt.dropout, kernel_init = normal }(y)
  x = nn.add(x, nn.dropout{ rate = opt.dropout }(y))
  y = nn.layer_norm{ epsilon = 1e-5, name = "norm_mlp" }(x)
  y = nn.dense{ units = 4 * opt.width, kernel_init = normal, name = "mlp_in" }(y)
  y = nn.dense{ units = opt.width, kernel_init = normal, name = "mlp_out" }(nn.gelu{ approximate = true }(y))
  return nn.add(x, nn.dropout{ rate = opt.dropout }(y))
end

return nn.model("gpt2", function(m, opt)
  if opt.small then -- for tests
    opt.vocabulary, opt.context, opt.seq, opt.layers, opt.width, opt.heads = 60, 12, 9, 2, 16, 2
  end
  if opt.seq > opt.context then error(("gpt2: seq = %d is more than its context, %d"):format(opt.seq, opt.context), 0) end
  local ids = m:input("ids", { opt.seq }, "i32")
  local label = m:input("label", { opt.seq }, "i32")         -- the token that follows each
  local tokens = nn.embedding{ vocabulary = opt.vocabulary, units = opt.width, init = { "normal", 0.02 }, name = "tokens" }
  local x = tokens(ids)
  local positions = nn.parameter{ shape = { opt.context, opt.width }, init = { "normal", 0.02 }, name = "positions" }
  x = nn.add(x, opt.seq < opt.context and nn.slice{ axis = 1, count = opt.seq }(positions) or positions)
  x = nn.dropout{ rate = opt.dropout }(x)
  for i = 1, opt.layers do x = nn.scope("block" .. i, block, x, opt) end
  x = nn.layer_norm{ epsilon = 1e-5, name = "norm" }(x)
  local logits = nn.dense{ units = opt.vocabulary, tie = tokens, bias = false, name = "logits" }(x)
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
  m:metric("accuracy", nn.accuracy(logits, label))
end, { options = { vocabulary = 50257, context = 1024, seq = 1024, layers = 12, width = 768, heads = 12, dropout = 0.1,
                   small = false } })
