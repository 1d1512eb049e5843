-- nn: attention, products of matrices, and what goes with them. Called as nn.lua is.
local _, nn, host = ...

for _, name in ipairs{ "attention", "matmul", "transpose", "relu6", "gelu", "softmax", "log_softmax" } do
  nn[name] = function() host.fail(("nn.%s: not in this version"):format(name)) end
end
