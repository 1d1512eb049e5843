-- nn: normalisation. Called as nn.lua is. Options and defaults are those of Keras, over the last axis.
local _, _, host = ...

local define, variables_get, initialiser_read = host.define, host.variables_get, host.initialiser_read

-- A variance of 0 has to stay finite.
local function epsilon_check(what, o)
  o.epsilon = o.epsilon or 1e-3
  if not (o.epsilon > 0) then host.fail(("%s: epsilon: number above 0 expected, got %g"):format(what, o.epsilon)) end
end

-- gamma and beta, as far as they are wanted, and what `more` makes, of the size of the last axis.
local function parameters_get(build, layer, o, x, more)
  return variables_get(build, layer, function()
    local shape = build.graph:shape(x)
    local size = { shape[#shape] or 1 }
    local made = {}
    if o.scale ~= false then made.gamma = host.variable(build, "gamma", size, o.gamma_init) end
    if o.center ~= false then made.beta = host.variable(build, "beta", size, o.beta_init) end
    if more then more(made, size) end
    return made
  end)
end

local function value(build, variable) return variable and build.graph:value(variable) end

define{
  name = "batch_norm", inputs = 1, direct = true,
  options = { momentum = "rate", epsilon = "number", scale = "boolean", center = "boolean",
              activation = { "linear", "relu" }, gamma_init = "any", beta_init = "any" },
  prepare = function(what, o)
    epsilon_check(what, o)
    o.gamma_init = initialiser_read(what, "gamma_init", o.gamma_init, "ones")
    o.beta_init = initialiser_read(what, "beta_init", o.beta_init, "zeros")
  end,
  call = function(build, layer, o, x)
    local made = parameters_get(build, layer, o, x, function(made, size)
      made.moving_mean = host.variable(build, "moving_mean", size, { "zeros" })
      made.moving_variance = host.variable(build, "moving_variance", size, { "ones" })
    end)
    return build.graph:batch_norm(layer.name, x, value(build, made.gamma), value(build, made.beta),
      build.graph:value(made.moving_mean), build.graph:value(made.moving_variance), o.momentum or 0.99, o.epsilon,
      o.activation)
  end,
}

define{
  name = "layer_norm", inputs = 1, direct = true,
  options = { epsilon = "number", scale = "boolean", center = "boolean", gamma_init = "any", beta_init = "any" },
  prepare = function(what, o)
    epsilon_check(what, o)
    o.gamma_init = initialiser_read(what, "gamma_init", o.gamma_init, "ones")
    o.beta_init = initialiser_read(what, "beta_init", o.beta_init, "zeros")
  end,
  call = function(build, layer, o, x)
    local made = parameters_get(build, layer, o, x)
    return build.graph:layer_norm(layer.name, x, value(build, made.gamma), value(build, made.beta), o.epsilon)
  end,
}
