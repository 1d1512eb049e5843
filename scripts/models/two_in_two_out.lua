-- Two inputs of different width, two outputs, two losses that add up. Both inputs are cut at the same rows when the
-- batch is split, and both outputs come together again in the order of the input.
return nn.model("two_in_two_out", function(m)
  local wide, narrow = m:input("wide", { 10 }), m:input("narrow", { 5 })
  local target = m:input("target", { 1 })
  local label = m:input("label", {}, "i32")
  local x = nn.dense{ units = 8, activation = "relu", name = "wide_in" }(wide)
  local y = nn.dense{ units = 8, activation = "relu", name = "narrow_in" }(narrow)
  local both = nn.concat(x, y)                               -- along the last axis
  local value = nn.dense{ units = 1, name = "value" }(both)
  local logits = nn.dense{ units = 2, name = "logits" }(both)
  m:output("value", value)
  m:output("logits", logits)
  local value_loss, label_loss = nn.mean_squared_error(value, target), nn.softmax_cross_entropy(logits, label)
  m:loss(value_loss)
  m:loss(label_loss, { weight = 0.4 })
  m:metric("value_loss", value_loss)                         -- a loss is a metric too: each by itself, without its weight
  m:metric("label_loss", label_loss)
  m:metric("accuracy", nn.accuracy(logits, label))
end)
