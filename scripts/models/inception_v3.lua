-- Inception v3 (Szegedy et al., arXiv 1512.00567) as torchvision builds it: 299 px, convolutions of many shapes side by side,
-- each without bias and followed by a norm and relu. 23,834,568 parameters; with { aux = true } a second classifier hangs in
-- the middle whose loss counts 0.4: 27,161,264. (Keras' 23,851,784 is this net without gammas and with moving statistics.)
--     mgb.run{ model = mgb.model("inception_v3", { aux = true }), batch = 4 }
local function conv(x, filters, kernel, more)
  local o = { filters = filters, kernel = kernel, bias = false, kernel_init = "he_normal", name = "conv" }
  for key, value in pairs(more or {}) do o[key] = value end
  return nn.batch_norm{ momentum = 0.9, epsilon = 1e-3, activation = "relu", name = "norm" }(nn.conv2d(o)(x))
end

local function conv_same(x, filters, kernel) return conv(x, filters, kernel, { padding = "same" }) end
local function conv_valid(x, filters, kernel, stride) return conv(x, filters, kernel, { stride = stride }) end

-- The padding of the averages counts, as zeros.
local function average(x) return nn.avg_pool2d{ size = 3, stride = 1, padding = 1, count_padding = true }(x) end
local function largest(x) return nn.max_pool2d{ size = 3, stride = 2 }(x) end

-- `w` scales the number of filters.
local function block_35(x, w, pool_filters)
  local a = conv_same(x, w(64), 1)
  local b = conv_same(conv_same(x, w(48), 1), w(64), 5)
  local c = conv_same(conv_same(conv_same(x, w(64), 1), w(96), 3), w(96), 3)
  local d = conv_same(average(x), w(pool_filters), 1)
  return nn.concat(a, b, c, d)
end

local function to_17(x, w)
  local a = conv_valid(x, w(384), 3, 2)
  local b = conv_valid(conv_same(conv_same(x, w(64), 1), w(96), 3), w(96), 3, 2)
  return nn.concat(a, b, largest(x))
end

local function block_17(x, w, middle)
  local a = conv_same(x, w(192), 1)
  local b = conv_same(x, w(middle), 1)
  b = conv_same(conv_same(b, w(middle), { 1, 7 }), w(192), { 7, 1 })
  local c = conv_same(x, w(middle), 1)
  c = conv_same(conv_same(c, w(middle), { 7, 1 }), w(middle), { 1, 7 })
  c = conv_same(conv_same(c, w(middle), { 7, 1 }), w(192), { 1, 7 })
  local d = conv_same(average(x), w(192), 1)
  return nn.concat(a, b, c, d)
end

local function to_8(x, w)
  local a = conv_valid(conv_same(x, w(192), 1), w(320), 3, 2)
  local b = conv_same(conv_same(conv_same(x, w(192), 1), w(192), { 1, 7 }), w(192), { 7, 1 })
  return nn.concat(a, conv_valid(b, w(192), 3, 2), largest(x))
end

local function block_8(x, w)
  local a = conv_same(x, w(320), 1)
  local b = conv_same(x, w(384), 1)
  b = nn.concat(conv_same(b, w(384), { 1, 3 }), conv_same(b, w(384), { 3, 1 }))
  local c = conv_same(conv_same(x, w(448), 1), w(384), 3)
  c = nn.concat(conv_same(c, w(384), { 1, 3 }), conv_same(c, w(384), { 3, 1 }))
  local d = conv_same(average(x), w(192), 1)
  return nn.concat(a, b, c, d)
end

local function second_classifier(x, w, classes)
  x = nn.avg_pool2d{ size = 5, stride = 3 }(x)
  x = conv_valid(conv_valid(x, w(128), 1), w(768), 5)
  return nn.dense{ units = classes, name = "logits" }(nn.global_avg_pool2d(x))
end

return nn.model("inception_v3", function(m, opt)
  if opt.small then opt.classes = 10 end -- for tests: an eighth of the filters
  local w = function(filters) return opt.small and filters // 8 or filters end
  local image = m:input("image", { opt.image, opt.image, 3 })
  local label = m:input("label", {}, "i32")
  local x = nn.scope("stem", function()
    local x = conv_valid(conv_valid(image, w(32), 3, 2), w(32), 3)
    x = largest(conv_same(x, w(64), 3))
    return largest(conv_valid(conv_valid(x, w(80), 1), w(192), 3))
  end)
  for i, pool_filters in ipairs{ 32, 64, 64 } do x = nn.scope("mixed35_" .. i, block_35, x, w, pool_filters) end
  x = nn.scope("to17", to_17, x, w)
  for i, middle in ipairs{ 128, 160, 160, 192 } do x = nn.scope("mixed17_" .. i, block_17, x, w, middle) end
  local second = opt.aux and nn.scope("aux", second_classifier, x, w, opt.classes)
  x = nn.scope("to8", to_8, x, w)
  for i = 1, 2 do x = nn.scope("mixed8_" .. i, block_8, x, w) end
  x = nn.dropout{ rate = opt.dropout }(nn.global_avg_pool2d(x))
  local logits = nn.dense{ units = opt.classes, name = "logits" }(x)
  m:output("logits", logits)
  m:loss(nn.softmax_cross_entropy(logits, label))
  if second then m:loss(nn.softmax_cross_entropy(second, label), { weight = 0.4 }) end
  m:metric("accuracy", nn.accuracy(logits, label))
end, { options = { image = 299, classes = 1000, aux = false, dropout = 0.5, small = false } })
