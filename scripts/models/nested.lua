-- A model inside of a model inside of a model. Scopes keep the names apart; the innermost is used twice and shared.
local block = nn.model("block", function(m, opt)
  local x = m:input("x", { 12 })
  m:output("y", nn.add(x, nn.dense{ units = 12, activation = opt.activation }(x)))
end, { options = { activation = "relu" } })

local trunk = nn.model("trunk", function(m)
  local x = m:input("x", { 12 })
  m:output("y", block(block(x)))
end)

return nn.model("nested", function(m)
  local x = m:input("x", { 12 })
  local label = m:input("label", {}, "i32")
  local y = nn.scope("body", function() return trunk(x) end)
  local logits = nn.dense{ units = 3, name = "logits" }(y)
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
end)
