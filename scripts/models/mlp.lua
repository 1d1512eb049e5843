-- A multi-layer perceptron: the smallest model worth splitting, good for trying things out.
--     mgbench run mlp            mgb.run{ model = mgb.model("mlp", { hidden = 512 }) }
-- The image is flattened, so any image data fits: mgb.data.mnist{} as it stands, digits with { height = 8, width = 8 }.
return nn.model("mlp", function(m, opt)
  local image = m:input("image", { opt.height, opt.width, 1 })
  local label = m:input("label", {}, "i32")
  local x = nn.flatten(image)
  for _ = 1, opt.layers do
    x = nn.dense{ units = opt.hidden, activation = "relu" }(x) -- a new layer object: new variables
  end
  local logits = nn.dense{ units = opt.classes, name = "logits" }(x)
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
  m:metric("accuracy", nn.accuracy(logits, label))
end, { options = { height = 28, width = 28, hidden = 128, layers = 2, classes = 10 } })
