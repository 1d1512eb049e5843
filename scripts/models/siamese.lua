-- Two inputs through one sub-network: the weights are shared, so they exist once, whatever the number of GPUs.
--     mgbench check siamese --gpus 4      exits 0
-- A model is a value: called on tensors it is a layer, and its second call uses the variables of the first.
local branch = nn.model("nested", function(m)
  local x = m:input("x", { 16 })
  x = nn.dense{ units = 8, activation = "tanh" }(x)
  m:output("nested", nn.dense{ units = 4 }(x))
end)

return nn.model("siamese", function(m)
  local a, b = m:input("a", { 16 }), m:input("b", { 16 })
  local target = m:input("target", { 4 })
  local left, right = branch(a), branch(b)
  local sum = nn.add(left, right)
  m:output("add", sum)
  m:output("nested", left)         -- two outputs of one name become nested_1, nested_2
  m:output("nested", right)
  m:loss(nn.mean_squared_error(sum, target))
end)
