-- The vision transformer of Dosovitskiy et al. (arXiv 2010.11929), "base", patches of 16 x 16, as torchvision builds it:
-- 86,567,656 parameters, 17.6 G multiply-adds an image, nearly all in products of matrices.
--     mgb.run{ model = "vit_b16", batch = 4 }
-- ViT-L/16: { layers = 24, width = 1024, heads = 16, mlp = 4096 }: 304,326,632.
local function block(x, opt)
  local y = nn.layer_norm{ epsilon = 1e-6, name = "norm_attention" }(x)
  y = nn.attention{ heads = opt.heads }(y)
  x = nn.add(x, nn.dropout{ rate = opt.dropout }(y))
  y = nn.layer_norm{ epsilon = 1e-6, name = "norm_mlp" }(x)
  y = nn.dense{ units = opt.mlp, activation = "gelu", name = "mlp_in" }(y)
  y = nn.dropout{ rate = opt.dropout }(y)
  y = nn.dense{ units = opt.width, name = "mlp_out" }(y)
  return nn.add(x, nn.dropout{ rate = opt.dropout }(y))
end

return nn.model("vit_b16", function(m, opt)
  if opt.small then -- for tests
    opt.image, opt.patch, opt.layers, opt.width, opt.heads, opt.mlp, opt.classes = 12, 4, 2, 16, 2, 24, 10
  end
  local image = m:input("image", { opt.image, opt.image, 3 })
  local label = m:input("label", {}, "i32")
  local patches = nn.conv2d{ filters = opt.width, kernel = opt.patch, stride = opt.patch, name = "patches" }(image)
  local count = (opt.image // opt.patch) ^ 2 // 1 | 0
  local x = nn.reshape{ shape = { count, opt.width } }(patches)
  local class = nn.parameter{ shape = { 1, opt.width }, init = "zeros", name = "class_token" }
  x = nn.concat{ axis = 1 }(class, x)                        -- the token that ends up knowing the class
  x = nn.add(x, nn.parameter{ shape = { count + 1, opt.width }, init = { "normal", 0.02 }, name = "positions" })
  x = nn.dropout{ rate = opt.dropout }(x)
  for i = 1, opt.layers do x = nn.scope("block" .. i, block, x, opt) end
  x = nn.layer_norm{ epsilon = 1e-6, name = "norm" }(x)
  x = nn.flatten(nn.slice{ axis = 1, count = 1 }(x))
  local logits = nn.dense{ units = opt.classes, kernel_init = "zeros", name = "logits" }(x)
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
  m:metric("accuracy", nn.accuracy(logits, label))
end, { options = { image = 224, patch = 16, layers = 12, width = 768, heads = 12, mlp = 3072, classes = 1000, dropout = 0.0,
                   small = false } })
