-- nn: arithmetic, reductions, cuts, and convolutions and losses made of others. Called as nn.lua is.
local _, nn, host = ...

local define, variables_get = host.define, host.variables_get
local initialiser_read, pair_read, window_read = host.initialiser_read, host.pair_read, host.window_read
local state = host.layer_state

local function shape_text(shape)
  return #shape == 0 and "one value an example" or table.concat(shape, "x")
end

-- The shape of an image, which `x` must be.
local function image_shape(build, layer, kind, x)
  local shape = build.graph:shape(x)
  if #shape ~= 3 then
    host.fail(("nn.%s '%s': an image (height x width x channels) expected, got %s"):format(kind, layer.name,
              shape_text(shape)))
  end
  return shape
end

-- Two operands, one of which may be a plain number { n }: factor * x + shift then.
local with_number = {
  add = function(n) return 1, n end,
  mul = function(n) return n, 0 end,
  sub = function(n, first) return first and -1 or 1, first and n or -n end,
  div = function(n) return 1 / n, 0 end,
}

local function arithmetic_call(graph, what, kind, name, a, b)
  local first, number = type(a) == "table", type(a) == "table" and a[1] or type(b) == "table" and b[1]
  if not number then return graph[kind](graph, name, a, b) end
  if type(a) == type(b) then host.fail(what .. ": a tensor expected beside the number, got two numbers") end
  local x = first and b or a
  if kind == "div" and first then return graph:div(name, graph:affine(name .. "_number", x, 0, number), x) end
  if kind == "div" and number == 0 then host.fail(what .. ": division by 0") end
  return graph:affine(name, x, with_number[kind](number, first))
end

-- nn.mul(a, b), nn.mul(a, 0.5): numpy's rules within an example; a parameter may be one of the operands.
for name, count in pairs{ add = false, mul = false, sub = 2, div = 2 } do
  define{
    name = name, inputs = count or nil, direct = true, numbers = true, options = {},
    call = function(build, layer, _, result, ...)
      local what, others = ("nn.%s '%s'"):format(name, layer.name), { ... }
      if #others == 0 then host.fail(("nn.%s: two or more tensors expected, got 1"):format(name)) end
      for _, x in ipairs(others) do
        result = arithmetic_call(build.graph, what, name, layer.name, result, x)
      end
      return result
    end,
  }
end

define{
  name = "abs", inputs = 1, direct = true, options = {},
  call = function(build, layer, _, x) return build.graph:abs(layer.name, x) end,
}

-- The axes of a reduction as given, the last first, each once; the batch is 0.
local function axes_read(build, layer, kind, given, x)
  local rank, axes, seen = #build.graph:shape(x), {}, {}
  for _, axis in ipairs(type(given) == "table" and given or { given }) do
    local own = axis < 0 and rank + 1 + axis or axis
    if seen[own] then host.fail(("nn.%s '%s': axis %d is given twice"):format(kind, layer.name, axis)) end
    seen[own] = true
    axes[#axes + 1] = own < 1 and axis or own -- a wrong one is named as it was given
  end
  table.sort(axes, function(a, b) return a > b end)
  return axes
end

for _, name in ipairs{ "mean", "sum", "max" } do
  define{
    name = name, inputs = 1, options = { axis = "any", keepdims = "boolean" }, -- axis: a number or a list of them
    prepare = function(what, o)
      local list = type(o.axis) == "table" and o.axis or { o.axis }
      for i = 1, math.max(#list, 1) do
        if math.type(list[i]) ~= "integer" or math.abs(list[i]) > 1000 then
          host.fail(("%s: axis: integer or list of integers expected (the batch is axis 0, -1 the last), got %s")
                    :format(what, host.list_text(o.axis)))
        end
      end
    end,
    call = function(build, layer, o, x)
      for _, axis in ipairs(axes_read(build, layer, name, o.axis, x)) do
        x = build.graph[name](build.graph, layer.name, x, axis, o.keepdims)
      end
      return x
    end,
  }
end

define{
  name = "global_avg_pool2d", inputs = 1, direct = true, options = { keepdims = "boolean" },
  call = function(build, layer, o, x)
    local shape = image_shape(build, layer, "global_avg_pool2d", x)
    local whole = { shape[1], shape[2] }
    local y = build.graph:avg_pool2d(layer.name, x, { size = whole, stride = whole, dilation = { 1, 1 },
                                                      padding = "valid", groups = 1 })
    return o.keepdims and y or build.graph:flatten(layer.name .. "_flatten", y)
  end,
}

-- { top, bottom }, { left, right } from 1, { 1, 2 } or { { 0, 1 }, { 0, 1 } }.
local function border_read(what, given)
  local border = {}
  local list = type(given) == "table" and given or { given, given }
  for i = 1, 2 do
    border[i] = pair_read(what, "padding", list[i], nil, 0)
  end
  if #list ~= 2 then
    host.fail(("%s: padding: a number, { height, width } or { { top, bottom }, { left, right } } expected, got %s")
              :format(what, host.list_text(given)))
  end
  return border
end

define{
  name = "pad2d", inputs = 1, options = { padding = "any!" },
  prepare = function(what, o) o.border = border_read(what, o.padding) end,
  call = function(build, layer, o, x)
    image_shape(build, layer, "pad2d", x)
    local height, width = o.border[1], o.border[2]
    if height[1] + height[2] > 0 or width[1] + width[2] == 0 then
      x = build.graph:pad(layer.name, x, 1, height[1], height[2])
    end
    if width[1] + width[2] == 0 then return x end
    return build.graph:pad(layer.name, x, 2, width[1], width[2])
  end,
}

define{
  name = "pad", inputs = 1, options = { axis = "integer!", before = "count", after = "count" },
  call = function(build, layer, o, x)
    return build.graph:pad(layer.name, x, o.axis, o.before or 0, o.after or 0)
  end,
}

define{
  name = "slice", inputs = 1, options = { axis = "integer!", begin = "integer", count = "positive" },
  call = function(build, layer, o, x)
    return build.graph:slice(layer.name, x, o.axis, o.begin or 0, o.count or -1)
  end,
}

local function window_with(window, groups)
  local copy = {}
  for key, value in pairs(window) do copy[key] = value end
  copy.groups = groups
  return copy
end

local depthwise_options = { kernel = "any!", stride = "any", padding = "any", dilation = "any", multiplier = "positive",
                            bias = "boolean", activation = host.activations, kernel_init = "any", bias_init = "any" }

local function depthwise_prepare(what, o)
  o.window = window_read(what, o, pair_read(what, "kernel", o.kernel, nil, 1), 1)
  o.kernel_init = initialiser_read(what, "kernel_init", o.kernel_init, "glorot_uniform")
  o.bias_init = initialiser_read(what, "bias_init", o.bias_init, "zeros")
end

-- One filter a channel, `multiplier` of them: a convolution in as many groups as there are channels.
local function depthwise_variables(build, kind, layer, o, x)
  local shape, size = image_shape(build, layer, kind, x), o.window.size
  local filters = shape[3] * (o.multiplier or 1)
  return host.variable(build, "depthwise_kernel", { size[1], size[2], 1, filters }, o.kernel_init), filters
end

define{
  name = "depthwise_conv2d", inputs = 1, options = depthwise_options, prepare = depthwise_prepare,
  call = function(build, layer, o, x)
    local made = variables_get(build, layer, function()
      local kernel, filters = depthwise_variables(build, "depthwise_conv2d", layer, o, x)
      return { kernel = kernel,
               bias = o.bias ~= false and host.variable(build, "bias", { filters }, o.bias_init) or nil }
    end)
    local window = window_with(o.window, image_shape(build, layer, "depthwise_conv2d", x)[3])
    return host.activated(build, layer, o.activation, function(activation)
      return build.graph:conv2d(layer.name, x, build.graph:value(made.kernel),
                                made.bias and build.graph:value(made.bias), activation, window)
    end)
  end,
}

local separable_options = { filters = "positive!" }
for key, kind in pairs(depthwise_options) do separable_options[key] = kind end

define{
  name = "separable_conv2d", inputs = 1, options = separable_options, prepare = depthwise_prepare,
  call = function(build, layer, o, x)
    local made = variables_get(build, layer, function()
      local kernel, channels = depthwise_variables(build, "separable_conv2d", layer, o, x)
      return { depthwise = kernel,
               pointwise = host.variable(build, "pointwise_kernel", { 1, 1, channels, o.filters }, o.kernel_init),
               bias = o.bias ~= false and host.variable(build, "bias", { o.filters }, o.bias_init) or nil }
    end)
    local window = window_with(o.window, image_shape(build, layer, "separable_conv2d", x)[3])
    local y = build.graph:conv2d(layer.name .. "_depthwise", x, build.graph:value(made.depthwise), nil, "linear", window)
    local one = { size = { 1, 1 }, stride = { 1, 1 }, dilation = { 1, 1 }, padding = "valid", groups = 1 }
    return host.activated(build, layer, o.activation, function(activation)
      return build.graph:conv2d(layer.name, y, build.graph:value(made.pointwise),
                                made.bias and build.graph:value(made.bias), activation, one)
    end)
  end,
}

define{
  name = "binary_cross_entropy", inputs = 2, direct = true, options = {}, -- logits, targets from 0 to 1
  call = function(build, layer, _, logits, target)
    return build.graph:binary_cross_entropy(layer.name, logits, target)
  end,
}

-- What nn.l2 is called on: layers and models that have variables. Of a layer the weights count, variables of two axes or
-- more; a parameter counts whatever its shape.
local function penalty_operands(layer, ...)
  local build, seen, found = host.build_now("nn.l2"), {}, {}
  if select("#", ...) == 0 then host.fail("nn.l2: one or more layers expected, got 0") end
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    local kind = state[value] and state[value].kind.name
    if not kind and not host.is_model(value) then
      host.fail(("nn.l2: argument %d: a layer, model or parameter expected, got %s"):format(i, host.describe(value)))
    end
    if kind == "parameter" then value() end
    local before = #found
    for _, variable in ipairs(build.root.variables[value] or {}) do
      local tensor = build.graph:value(variable)
      if not seen[variable] and (kind == "parameter" or #build.graph:shape(tensor) >= 2) then
        found[#found + 1] = tensor
      end
      seen[variable] = true
    end
    if #found == before and not build.root.variables[value] then
      host.fail(("nn.l2 '%s': argument %d, '%s', has no variables yet; call it first"):format(layer.name, i, value.name))
    end
  end
  if #found == 0 then
    host.fail(("nn.l2 '%s': nothing it was called on has weights (variables of two axes or more)"):format(layer.name))
  end
  return build, { found }, 1
end

define{
  name = "l2", options = { weight = "number" }, operands = penalty_operands,
  prepare = function(what, o)
    if (o.weight or 0) < 0 then host.fail(("%s: weight: number from 0 up expected, got %g"):format(what, o.weight)) end
  end,
  call = function(build, layer, o, variables) return build.graph:l2(layer.name, variables, o.weight or 0.01) end,
}
