-- AlexNet for one GPU (Krizhevsky, arXiv 1404.5997) as torchvision builds it: 61,100,840 parameters, all but 2.5 M in dense
-- layers, and little arithmetic (0.71 G multiply-adds an image): the net whose step is mostly gradients on their way.
return nn.model("alexnet", function(m, opt)
  if opt.small then opt.image, opt.width, opt.units, opt.classes = 96, 8, 64, 10 end -- for tests
  local image = m:input("image", { opt.image, opt.image, 3 })
  local label = m:input("label", {}, "i32")
  local function conv(x, filters, kernel, padding, stride)
    return nn.conv2d{ filters = filters * opt.width // 64, kernel = kernel, padding = padding, stride = stride,
                      activation = "relu", kernel_init = "he_normal" }(x)
  end
  local pool = nn.max_pool2d{ size = 3, stride = 2 }         -- windows overlap
  local x = pool(conv(image, 64, 11, 2, 4))
  x = pool(conv(x, 192, 5, 2))
  x = conv(conv(conv(x, 384, 3, 1), 256, 3, 1), 256, 3, 1)
  x = nn.flatten(pool(x))
  for i = 1, 2 do
    x = nn.dropout{ rate = opt.dropout }(x)
    x = nn.dense{ units = opt.units, activation = "relu", kernel_init = "he_normal", name = "dense" .. i }(x)
  end
  local logits = nn.dense{ units = opt.classes, name = "logits" }(x)
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
  m:metric("accuracy", nn.accuracy(logits, label))
end, { options = { image = 224, width = 64, units = 4096, classes = 1000, dropout = 0.5, small = false } })
