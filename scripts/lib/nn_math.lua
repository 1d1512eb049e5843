-- nn: arithmetic, reductions, and layers made of others. Called as nn.lua is.
local _, nn, host = ...

for _, name in ipairs{ "depthwise_conv2d", "separable_conv2d", "global_avg_pool2d", "mul", "sub", "pad2d",
                       "slice", "time_distributed", "mean", "sum", "max", "binary_cross_entropy", "l2" } do
  nn[name] = function() host.fail(("nn.%s: not in this version"):format(name)) end
end
