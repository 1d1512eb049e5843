-- A convolutional network for the 8 x 8 digits that come with mgbench; a step takes a millisecond or two.
--     mgb.run{ model = "digits_cnn", data = mgb.data.digits{ split = "train" }, gpus = 2 }
return nn.model("digits_cnn", function(m, opt)
  local image = m:input("image", { 8, 8, 1 })
  local label = m:input("label", {}, "i32")
  local x = nn.conv2d{ filters = opt.filters, kernel = 3, padding = "same", activation = "relu" }(image)
  x = nn.max_pool2d{ size = 2 }(x)
  x = nn.conv2d{ filters = 2 * opt.filters, kernel = 3, padding = "same", activation = "relu" }(x)
  x = nn.dropout{ rate = opt.dropout }(nn.flatten(x))
  local logits = nn.dense{ units = 10, name = "logits" }(x)
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
  m:metric("accuracy", nn.accuracy(logits, label))
end, { options = { filters = 16, dropout = 0.25 } })
