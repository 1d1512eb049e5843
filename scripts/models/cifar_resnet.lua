-- The residual nets for 32 x 32 images of He et al. (arXiv 1512.03385, section 4.2): depth 6n + 2, n blocks in each of three
-- stages. Shortcuts have no weights ("option A"): every second pixel, and zeros for the channels that are new.
--     mgb.model("cifar_resnet", { depth = 110 })
-- 269,722, 853,018 and 1,727,962 parameters at depth 20, 56 and 110; with the moving statistics, which are no parameters,
-- 271,098, 857,082 and 1,736,058 numbers. Many small operators: what starting one costs shows here.
local function conv_norm(x, filters, stride, activation)
  x = nn.conv2d{ filters = filters, kernel = 3, stride = stride, padding = 1, bias = false, kernel_init = "he_normal",
                 name = "conv" }(x)
  return nn.batch_norm{ momentum = 0.9, epsilon = 1e-5, activation = activation, name = "norm" }(x)
end

local function residual(x, filters, stride)
  local y = conv_norm(conv_norm(x, filters, stride, "relu"), filters, 1)
  local new = filters - x.shape[3]
  if new > 0 then
    x = nn.avg_pool2d{ size = 1, stride = stride, name = "every_second" }(x)
    x = nn.pad{ axis = 3, before = new // 2, after = new - new // 2, name = "new_channels" }(x)
  end
  return nn.relu(nn.add(x, y))
end

return nn.model("cifar_resnet", function(m, opt)
  if opt.depth < 8 or opt.depth % 6 ~= 2 then
    error(("cifar_resnet: depth 6n + 2 expected, as 20, 56 or 110, got %d"):format(opt.depth))
  end
  if opt.small then opt.width, opt.image = 4, 16 end -- for tests: as deep, with little to do
  local image = m:input("image", { opt.image, opt.image, 3 })
  local label = m:input("label", {}, "i32")
  local x = nn.scope("stem", conv_norm, image, opt.width, 1, "relu")
  for stage = 1, 3 do
    for i = 1, opt.depth // 6 do
      x = nn.scope(("stage%d_block%d"):format(stage, i), residual, x, opt.width << (stage - 1),
                   i == 1 and stage > 1 and 2 or 1)
    end
  end
  local logits = nn.dense{ units = opt.classes, name = "logits" }(nn.global_avg_pool2d(x))
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
  m:metric("accuracy", nn.accuracy(logits, label))
end, { options = { depth = 20, image = 32, width = 16, classes = 10, small = false } })
