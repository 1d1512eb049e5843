-- nn: normalisation. Called as nn.lua is.
local _, nn, host = ...

for _, name in ipairs{ "batch_norm", "layer_norm" } do
  nn[name] = function() host.fail(("nn.%s: not in this version"):format(name)) end
end
