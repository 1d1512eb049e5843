-- VGG 16 (Simonyan and Zisserman, arXiv 1409.1556, configuration D): 3x3 convolutions only, and three dense layers that hold
-- most of its 138,357,544 parameters: 553 MB of gradients to bring together each step, for 15.5 G multiply-adds an image.
--     mgb.run{ model = "vgg16", gpus = 4, batch = 16, cpu_merge = false }
return nn.model("vgg16", function(m, opt)
  if opt.small then opt.image, opt.width, opt.units, opt.classes = 64, 4, 48, 10 end -- for tests
  local image = m:input("image", { opt.image, opt.image, 3 })
  local label = m:input("label", {}, "i32")
  local x = image
  for stage, count in ipairs{ 2, 2, 3, 3, 3 } do
    local filters = opt.width << math.min(stage - 1, 3)    -- 64, 128, 256, 512, 512
    for i = 1, count do
      x = nn.conv2d{ filters = filters, kernel = 3, padding = "same", activation = "relu", kernel_init = "he_normal",
                     name = ("conv%d_%d"):format(stage, i) }(x)
    end
    x = nn.max_pool2d{ size = 2 }(x)
  end
  x = nn.flatten(x)
  for i = 1, 2 do
    x = nn.dense{ units = opt.units, activation = "relu", kernel_init = "he_normal", name = "dense" .. i }(x)
    x = nn.dropout{ rate = opt.dropout }(x)
  end
  local logits = nn.dense{ units = opt.classes, name = "logits" }(x)
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
  m:metric("accuracy", nn.accuracy(logits, label))
end, { options = { image = 224, width = 64, units = 4096, classes = 1000, dropout = 0.5, small = false } })
