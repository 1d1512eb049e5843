-- nn: recurrent networks, embeddings and masks. Called as nn.lua is.
local _, nn, host = ...

local define, variables_get, initialiser_read = host.define, host.variables_get, host.initialiser_read
local state = host.layer_state

-- y = layer(ids), and with mask_zero: y, mask = layer(ids), where word 0 is padding.
define{
  name = "embedding", inputs = 1,
  options = { vocabulary = "positive", units = "positive", init = "any", mask_zero = "boolean", tie = "any" },
  prepare = function(what, o)
    o.init = initialiser_read(what, "init", o.init or { "uniform", 0.05 })
    local other = o.tie ~= nil and state[o.tie] and state[o.tie].kind.name
    if o.tie ~= nil and other ~= "embedding" then
      host.fail(("%s: tie: an embedding layer expected, got %s%s"):format(what, host.layer_text(o.tie), other == "dense" and
                "; write it the other way round: nn.dense{ tie = embedding }" or ""))
    end
    local first = o.tie and state[o.tie].options
    for _, key in ipairs{ "vocabulary", "units" } do
      if first and o[key] and o[key] ~= first[key] then
        host.fail(("%s: %s = %d, but the table it is tied to has %d"):format(what, key, o[key], first[key]))
      end
      o[key] = o[key] or first and first[key] or host.fail(("%s: %s is missing"):format(what, key))
    end
  end,
  call = function(build, layer, o, ids)
    local made = variables_get(build, layer, function()
      local tied = o.tie and build.root.made[o.tie]
      if o.tie and not tied then
        host.fail(("nn.embedding '%s': the layer it is tied to, '%s', was not called yet"):format(layer.name, o.tie.name))
      end
      return { embeddings = tied and tied.embeddings or
                 host.variable(build, "embeddings", { o.vocabulary, o.units }, o.init) }
    end)
    local y = build.graph:embedding(layer.name, ids, build.graph:value(made.embeddings))
    if not o.mask_zero then return y end
    return y, build.graph:mask(layer.name .. "_mask", ids, 0)
  end,
}

-- 1 for every position whose number, or any of whose numbers, is not `value`; 0 for padding.
define{
  name = "mask", inputs = 1, direct = true, options = { value = "number" },
  call = function(build, layer, o, x) return build.graph:mask(layer.name, x, o.value or 0) end,
}

-- Options of both recurrent layers, and one of its own.
local function recurrent_options(own)
  return { units = "positive!", return_sequences = "boolean", return_state = "boolean", reverse = "boolean",
           bias = "boolean", kernel_init = "any", recurrent_init = "any", bias_init = "any", stateful = "boolean",
           batch = "positive", [own] = "boolean", projection = own == "unit_forget_bias" and "count" or nil }
end

-- A state kept from batch to batch belongs to rows that a split moves about; a fixed batch contradicts every split.
local function state_refuse(what, o)
  if not o.stateful and not o.batch then return end
  local rows = o.batch and (" of %d rows"):format(o.batch) or ""
  local cut = o.batch and o.batch > 1 and (": a batch of %d is %d and %d rows on 2 GPUs"):format(o.batch, (o.batch + 1) // 2,
                                                                                               o.batch // 2) or ""
  host.fail(("%s: %s = %s: a batch%s is cut over the GPUs and the last one may be short, so no layer can keep a state or a " ..
             "size of it%s; hand the state in as inputs: layer(x, nil, h%s)"):format(what, o.stateful and "stateful" or "batch",
             tostring(o.stateful or o.batch), rows, cut, o.states == 2 and ", c" or ""))
end

local function recurrent_prepare(what, o, states)
  o.states = states
  if o.projection == 0 then o.projection = nil end
  state_refuse(what, o)
  o.kernel_init = initialiser_read(what, "kernel_init", o.kernel_init, "glorot_uniform")
  o.recurrent_init = initialiser_read(what, "recurrent_init", o.recurrent_init, "glorot_uniform")
end

-- Every variable in the order of Keras. `gates` of them side by side in each.
local function recurrent_variables(build, layer, o, x, gates, bias_shape)
  return variables_get(build, layer, function()
    local shape, width = build.graph:shape(x), gates * o.units
    if #shape ~= 2 then
      host.fail(("nn.%s '%s': positions x width expected, got %s"):format(state[layer].kind.name, layer.name,
        #shape == 0 and "one value an example" or table.concat(shape, "x")))
    end
    return { kernel = host.variable(build, "kernel", { shape[2], width }, o.kernel_init),
             recurrent = host.variable(build, "recurrent_kernel", { o.projection or o.units, width }, o.recurrent_init),
             bias = o.bias ~= false and host.variable(build, "bias", bias_shape, o.bias_init) or nil,
             projection = o.projection and
               host.variable(build, "projection_kernel", { o.units, o.projection }, o.recurrent_init) }
  end)
end

local function operands(build, o, made, mask, h, c)
  return { kernel = build.graph:value(made.kernel), recurrent = build.graph:value(made.recurrent),
           bias = made.bias and build.graph:value(made.bias), mask = mask, h = h, c = c,
           sequences = o.return_sequences or o.return_state or false, reverse = o.reverse or false }
end

-- One row of a sequence of states as a tensor of its own.
local function row(build, name, y, at, units)
  return build.graph:reshape(name, build.graph:slice(name, y, 1, at, 1), { units })
end

-- The sequence, or the last state, and then the states that there are: h, or h and c. `last`: where the last state is.
local function states_give(build, name, o, y, steps, cell)
  local h = row(build, name .. "_h", y, o.reverse and 0 or steps - 1, o.units)
  local c = cell and row(build, name .. "_c", y, steps, o.units) or nil
  if not o.return_sequences then
    y = h
  elseif cell then
    y = build.graph:slice(name .. "_sequence", y, 1, 0, steps)
  end
  if not c then return y, h end
  return y, h, c
end

-- Each kind: its variables, and its operator under a name, so that a layer around it can have both apart.
local recurrent = {}

function recurrent.lstm_variables(build, layer, o, x)
  return recurrent_variables(build, layer, o, x, 4, { 4 * o.units })
end

function recurrent.lstm(build, layer, o, name, x, mask, h, c)
  local made = recurrent.lstm_variables(build, layer, o, x)
  if o.projection then return host.lstm_projected(build, o, made, name, x, mask, h, c) end
  local call = operands(build, o, made, mask, h, c)
  call.cell = o.return_state or false
  local y = build.graph:lstm(name, x, call)
  if not o.return_state then return y end
  return states_give(build, name, o, y, build.graph:shape(x)[1], true)
end

function recurrent.gru_variables(build, layer, o, x)
  return recurrent_variables(build, layer, o, x, 3, o.reset_after ~= false and { 2, 3 * o.units } or { 3 * o.units })
end

function recurrent.gru(build, layer, o, name, x, mask, h)
  local call = operands(build, o, recurrent.gru_variables(build, layer, o, x), mask, h)
  call.reset_after = o.reset_after ~= false
  local y = build.graph:gru(name, x, call)
  if not o.return_state then return y end
  return states_give(build, name, o, y, build.graph:shape(x)[1], false)
end

define{
  name = "lstm", inputs = 1, optional = 3,
  options = recurrent_options("unit_forget_bias"),
  prepare = function(what, o)
    recurrent_prepare(what, o, 2)
    if o.bias_init ~= nil and o.unit_forget_bias then
      host.fail(what .. ": bias_init and unit_forget_bias both say how the bias begins")
    end
    local forget = o.bias_init == nil and o.unit_forget_bias ~= false
    o.bias_init = forget and { "unit_forget" } or initialiser_read(what, "bias_init", o.bias_init, "zeros")
  end,
  call = function(build, layer, o, ...) return recurrent.lstm(build, layer, o, layer.name, ...) end,
}

define{
  name = "gru", inputs = 1, optional = 2,
  options = recurrent_options("reset_after"),
  prepare = function(what, o)
    recurrent_prepare(what, o, 1)
    o.bias_init = initialiser_read(what, "bias_init", o.bias_init, "zeros")
  end,
  call = function(build, layer, o, ...) return recurrent.gru(build, layer, o, layer.name, ...) end,
}

-- What a merge makes of the two directions.
local merges = {
  concat = function(build, name, a, b) return build.graph:concat(name, { a, b }, -1) end,
  sum = function(build, name, a, b) return build.graph:add(name, a, b) end,
  mul = function(build, name, a, b) return build.graph:mul(name, a, b) end,
  ave = function(build, name, a, b) return build.graph:affine(name, build.graph:add(name, a, b), 0.5, 0) end,
}

local function direction_make(o, prefix, reverse)
  local s, options = state[o.layer], {}
  for key, value in pairs(s.options) do options[key] = value end
  options.reverse = reverse
  return host.layer_make(s.kind, prefix .. o.layer.name, options)
end

-- y = layer(x, mask, states of the forward layer, states of the backward one); with return_state the states follow y in
-- that order.
define{
  name = "bidirectional", inputs = 1, optional = 5,
  options = { layer = "any!", merge = { "concat", "sum", "mul", "ave" } },
  prepare = function(what, o)
    local s = state[o.layer]
    if not s or s.kind.name ~= "lstm" and s.kind.name ~= "gru" then
      host.fail(("%s: layer: an lstm or gru layer expected, got %s"):format(what, host.layer_text(o.layer)))
    end
    if s.options.reverse then host.fail(what .. ": layer: it goes both ways, so reverse is not for its layer") end
    o.forward, o.backward = direction_make(o, "forward_", false), direction_make(o, "backward_", true)
  end,
  call = function(build, layer, o, x, mask, ...)
    local kind, states, count = state[o.layer].kind.name, { ... }, state[o.layer].options.states
    variables_get(build, layer, function()
      for _, part in ipairs{ o.forward, o.backward } do
        recurrent[kind .. "_variables"](build, part, state[part].options, x)
      end
      return true
    end)
    local result, merge = {}, o.merge or "concat"
    for i, part in ipairs{ o.forward, o.backward } do
      local name, first = layer.name .. "_" .. part.name, (i - 1) * count
      result[i] = table.pack(recurrent[kind](build, part, state[part].options, name, x, mask, states[first + 1],
                                             count == 2 and states[first + 2] or nil))
    end
    local f, b = result[1], result[2]
    local y = { merges[merge](build, layer.name .. "_" .. merge, f[1], b[1]) }
    table.move(f, 2, f.n, 2, y)
    table.move(b, 2, b.n, f.n + 1, y)
    return table.unpack(y)
  end,
}
