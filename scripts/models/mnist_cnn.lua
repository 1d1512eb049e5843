-- The convolutional network of the Keras MNIST example: two convolutions, one pooling, two dense layers.
-- 1,199,882 parameters, nearly all of them in one dense layer: many bytes to move for little arithmetic, so that
-- where the weights live and where the towers meet shows in the step time.
return nn.model("mnist_cnn", function(m, opt)
  local image = m:input("image", { 28, 28, 1 })              -- shape of one example, channels last
  local label = m:input("label", {}, "i32")                  -- classes from 0
  local x = nn.conv2d{ filters = 32, kernel = 3, activation = "relu" }(image)
  x = nn.conv2d{ filters = 64, kernel = 3, activation = "relu" }(x)
  x = nn.max_pool2d{ size = 2 }(x)                           -- stride = size unless given
  x = nn.dropout{ rate = opt.dropout / 2 }(x)
  x = nn.dense{ units = 128, activation = "relu" }(nn.flatten(x))
  x = nn.dropout{ rate = opt.dropout }(x)
  local logits = nn.dense{ units = opt.classes, name = "logits" }(x)
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
  m:metric("accuracy", nn.accuracy(logits, label))
end, { options = { classes = 10, dropout = 0.5 } })
