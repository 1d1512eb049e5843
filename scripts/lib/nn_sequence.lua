-- nn: recurrent networks and embeddings. Called as nn.lua is.
local _, nn, host = ...

for _, name in ipairs{ "embedding", "lstm", "gru", "bidirectional", "mask" } do
  nn[name] = function() host.fail(("nn.%s: not in this version"):format(name)) end
end
