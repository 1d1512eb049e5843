-- ResNet (He et al., arXiv 1512.03385) as torchvision builds it, "v1.5": in a bottleneck the 3x3 convolution has the
-- stride. Depth 18 and 34 have basic blocks, 50, 101 and 152 bottlenecks:
--     mgb.run{ model = mgb.model("resnet", { depth = 101 }), batch = 8 }
-- Few bytes of weights for their arithmetic: 25.6 M parameters and 4.1 G multiply-adds an image at depth 50.
local stages = { [18] = { 2, 2, 2, 2 }, [34] = { 3, 4, 6, 3 }, [50] = { 3, 4, 6, 3 }, [101] = { 3, 4, 23, 3 },
                 [152] = { 3, 8, 36, 3 } }

local function conv_norm(x, filters, kernel, stride, activation)
  x = nn.conv2d{ filters = filters, kernel = kernel, stride = stride, padding = kernel // 2, bias = false,
                 kernel_init = "he_normal", name = "conv" }(x) -- no bias: the norm takes the mean away, beta is one
  return nn.batch_norm{ momentum = 0.9, epsilon = 1e-5, activation = activation, name = "norm" }(x)
end

local function basic(x, width, stride)
  x = conv_norm(x, width, 3, stride, "relu")
  return conv_norm(x, width, 3, 1)
end

local function bottleneck(x, width, stride)
  x = conv_norm(x, width, 1, 1, "relu")
  x = conv_norm(x, width, 3, stride, "relu")
  return conv_norm(x, 4 * width, 1, 1)
end

-- What a block makes is added to what came in; where the shape changes a 1x1 convolution changes that too.
local function residual(x, block, width, stride)
  local y = block(x, width, stride)
  local filters = y.shape[3]
  if stride > 1 or x.shape[3] ~= filters then
    x = nn.scope("shortcut", conv_norm, x, filters, 1, stride)
  end
  return nn.relu(nn.add(x, y))
end

return nn.model("resnet", function(m, opt)
  local blocks = stages[opt.depth] or error(("resnet: depth 18, 34, 50, 101 or 152 expected, got %d"):format(opt.depth))
  if opt.small then opt.image, opt.width, opt.classes = 64, 8, 10 end -- for tests: as deep, with little to do
  local image = m:input("image", { opt.image, opt.image, 3 })
  local label = m:input("label", {}, "i32")
  local x = nn.scope("stem", conv_norm, image, opt.width, 7, 2, "relu")
  x = nn.max_pool2d{ size = 3, stride = 2, padding = 1 }(x)
  for stage, count in ipairs(blocks) do
    for i = 1, count do
      local stride = i == 1 and stage > 1 and 2 or 1
      x = nn.scope(("stage%d_block%d"):format(stage, i), residual, x, opt.depth < 50 and basic or bottleneck,
                   opt.width << (stage - 1), stride)
    end
  end
  local logits = nn.dense{ units = opt.classes, name = "logits" }(nn.global_avg_pool2d(x))
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
  m:metric("accuracy", nn.accuracy(logits, label))
end, { options = { depth = 50, image = 224, width = 64, classes = 1000, small = false } })
