-- The mistake that siamese.lua does not make, as it happened in deep_qa: the builder runs once a tower
-- (build = "tower"). What was made outside of it is shared by the towers; the layer made inside is made again for every
-- tower, each copy trains on its own share of the data, and nobody notices until the variables are counted:
--     mgbench check siamese_unshared --gpus 4      exits 1 and names each extra copy
local shared = nn.dense{ units = 8, activation = "tanh", name = "shared" }

return nn.model("siamese_unshared", function(m)
  local a, b = m:input("a", { 16 }), m:input("b", { 16 })
  local target = m:input("target", { 4 })
  local inner = nn.dense{ units = 4, name = "inner" }
  local sum = nn.add(inner(shared(a)), inner(shared(b)))
  m:output("add", sum)
  m:loss(nn.mean_squared_error(sum, target))
end, { build = "tower" })
