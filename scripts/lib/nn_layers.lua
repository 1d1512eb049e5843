-- nn: the layers of dense and convolutional networks, losses and metrics. Called as nn.lua is.
local _, nn, host = ...

local define, variables_get, activations = host.define, host.variables_get, host.activations
local initialiser_read, pair_read, window_read = host.initialiser_read, host.pair_read, host.window_read
local state = host.layer_state

define{
  name = "dense", inputs = 1,
  options = { units = "positive!", activation = activations, bias = "boolean", kernel_init = "any",
              bias_init = "any", tie = "any" },
  prepare = function(what, o)
    o.kernel_init = initialiser_read(what, "kernel_init", o.kernel_init, "glorot_uniform")
    o.bias_init = initialiser_read(what, "bias_init", o.bias_init, "zeros")
    local other = o.tie ~= nil and state[o.tie] and state[o.tie].kind.name
    if o.tie ~= nil and other ~= "dense" and other ~= "embedding" then
      host.fail(what .. ": tie: a dense or embedding layer expected, got " .. host.layer_text(o.tie))
    end
  end,
  call = function(build, layer, o, x)
    local made = variables_get(build, layer, function()
      local shape = build.graph:shape(x)
      local tied = o.tie and build.root.made[o.tie]
      if o.tie and not tied then
        host.fail(("nn.dense '%s': the layer it is tied to, '%s', was not called yet"):format(layer.name, o.tie.name))
      end
      local table = tied and (tied.embeddings or tied.table) -- an embedding's, vocabulary x units: used transposed
      return { table = table, kernel = table or tied and tied.kernel or
                 host.variable(build, "kernel", { shape[#shape] or 1, o.units }, o.kernel_init),
               bias = o.bias ~= false and host.variable(build, "bias", { o.units }, o.bias_init) or nil }
    end)
    local y = host.activated(build, layer, o.activation, function(activation)
      return build.graph:dense(layer.name, x, build.graph:value(made.kernel),
                               made.bias and build.graph:value(made.bias), activation, made.table ~= nil)
    end)
    local units = build.graph:shape(y)
    if units[#units] ~= o.units then
      host.fail(("nn.dense '%s': units = %d, but '%s', which it is tied to, gives %d"):format(layer.name, o.units,
        o.tie.name, units[#units]))
    end
    return y
  end,
}

define{
  name = "conv2d", inputs = 1,
  options = { filters = "positive!", kernel = "any!", stride = "any", padding = "any", dilation = "any",
              groups = "positive", bias = "boolean", activation = activations, kernel_init = "any", bias_init = "any" },
  prepare = function(what, o)
    o.window = window_read(what, o, pair_read(what, "kernel", o.kernel, nil, 1), 1)
    o.kernel_init = initialiser_read(what, "kernel_init", o.kernel_init, "glorot_uniform")
    o.bias_init = initialiser_read(what, "bias_init", o.bias_init, "zeros")
  end,
  call = function(build, layer, o, x)
    local made = variables_get(build, layer, function()
      local shape, size = build.graph:shape(x), o.window.size
      if #shape ~= 3 then
        host.fail(("nn.conv2d '%s': an image (height x width x channels) expected, got %s"):format(layer.name,
          #shape == 0 and "one value an example" or table.concat(shape, "x")))
      end
      if shape[3] % o.window.groups ~= 0 or o.filters % o.window.groups ~= 0 then
        host.fail(("nn.conv2d '%s': groups = %d must divide the %d channels and the %d filters")
                  :format(layer.name, o.window.groups, shape[3], o.filters))
      end
      return { kernel = host.variable(build, "kernel",
                 { size[1], size[2], shape[3] // o.window.groups, o.filters }, o.kernel_init),
               bias = o.bias ~= false and host.variable(build, "bias", { o.filters }, o.bias_init) or nil }
    end)
    return host.activated(build, layer, o.activation, function(activation)
      return build.graph:conv2d(layer.name, x, build.graph:value(made.kernel),
                                made.bias and build.graph:value(made.bias), activation, o.window)
    end)
  end,
}

for _, name in ipairs{ "max_pool2d", "avg_pool2d" } do
  define{
    name = name, inputs = 1, direct = true,
    options = { size = "any", stride = "any", padding = "any",
                count_padding = name == "avg_pool2d" and "boolean" or nil }, -- padding counts as zeros, as in PyTorch
    prepare = function(what, o)
      local size = pair_read(what, "size", o.size, 2, 1)
      o.window = window_read(what, o, size, size)
    end,
    call = function(build, layer, o, x) return build.graph[name](build.graph, layer.name, x, o.window, o.count_padding) end,
  }
end

for _, name in ipairs{ "relu", "relu6", "tanh", "sigmoid" } do
  define{
    name = name, inputs = 1, direct = true, options = {},
    call = function(build, layer, _, x) return build.graph:activation(layer.name, x, name) end,
  }
end

define{
  name = "flatten", inputs = 1, direct = true, options = {},
  call = function(build, layer, _, x) return build.graph:flatten(layer.name, x) end,
}

define{
  name = "reshape", inputs = 1, options = { shape = "table!" }, -- an example's; one -1 is worked out
  call = function(build, layer, o, x) return build.graph:reshape(layer.name, x, o.shape) end,
}

define{
  name = "dropout", inputs = 1, options = { rate = "rate!" },
  call = function(build, layer, o, x) return build.graph:dropout(layer.name, x, o.rate) end,
}

define{
  name = "concat", direct = true, options = { axis = "integer" }, -- axis 0 is the batch; without one: the last
  call = function(build, layer, o, ...) return build.graph:concat(layer.name, { ... }, o.axis or -1) end,
}

for _, name in ipairs{ "softmax_cross_entropy", "mean_squared_error", "accuracy" } do
  define{
    name = name, inputs = 2, direct = true, options = {},
    call = function(build, layer, _, a, b) return build.graph[name](build.graph, layer.name, a, b) end,
  }
end

-- A bare variable: p = nn.parameter{ shape = {...} }. nn.add(x, p), nn.mul(p, x)... use it for every example, nn.concat(p, x)
-- joins it to each; p() is the same tensor as p.
define{
  name = "parameter", inputs = 0, options = { shape = "table!", init = "any" },
  prepare = function(what, o) o.init = initialiser_read(what, "init", o.init, "glorot_uniform") end,
  call = function(build, layer, o)
    local made = variables_get(build, layer, function() return { host.variable(build, "value", o.shape, o.init) } end)
    return build.graph:value(made[1])
  end,
}
