-- nn: an LSTM whose state is projected to fewer numbers before it goes on (Sak et al., arXiv 1402.1128), written out position
-- by position with the operators there are. Called as nn.lua is.
local _, _, host = ...

-- One position: the products of x with the kernel are in `a`, 4 units wide, gates i, f, g, o.
local function step(graph, o, value, name, a, h, c)
  local u = o.units
  local function gate(k, count) return graph:slice(name .. "_gate", a, 1, k * u, count * u) end
  local function part(x, k) return graph:slice(name .. "_gate", x, 1, k * u, u) end
  if h then a = graph:add(name .. "_add", a, graph:dense(name .. "_recurrent", h, value.recurrent, nil, "linear")) end
  local i_f = graph:activation(name .. "_sigmoid", gate(0, 2), "sigmoid")
  local new = graph:mul(name .. "_new", part(i_f, 0), graph:activation(name .. "_tanh", gate(2, 1), "tanh"))
  c = c and graph:add(name .. "_cell", graph:mul(name .. "_kept", part(i_f, 1), c), new) or new
  local out = graph:mul(name .. "_out", graph:activation(name .. "_sigmoid", gate(3, 1), "sigmoid"),
                        graph:activation(name .. "_tanh", c, "tanh"))
  return graph:dense(name .. "_projection", out, value.projection, nil, "linear"), c
end

-- Where `live` is 0 the old state stays; none: zeros.
local function keep(graph, name, live, new, old)
  if not old then return graph:mul(name .. "_live", new, live) end
  return graph:add(name .. "_live", old, graph:mul(name .. "_live", graph:sub(name .. "_live", new, old), live))
end

-- As of nn.lstm: the sequence or the last state, and with return_state h (projected) and c.
function host.lstm_projected(build, o, made, name, x, mask, h, c)
  local graph = build.graph
  local value = { recurrent = graph:value(made.recurrent), projection = graph:value(made.projection) }
  local steps = graph:shape(x)[1]
  if mask and #graph:shape(mask) ~= 1 or mask and graph:shape(mask)[1] ~= steps then
    host.fail(("lstm '%s': its mask is %s, it takes %d, one number a position"):format(name,
              table.concat(graph:shape(mask), "x"), steps))
  end
  if mask and host.tensor(build, mask).type == "i32" then mask = graph:mask(name .. "_mask", mask, 0) end
  local all = graph:dense(name .. "_inputs", x, graph:value(made.kernel), made.bias and graph:value(made.bias), "linear")
  local rows = {}
  for at = o.reverse and steps or 1, o.reverse and 1 or steps, o.reverse and -1 or 1 do
    local a = graph:reshape(name .. "_at", graph:slice(name .. "_at", all, 1, at - 1, 1), { 4 * o.units })
    local h_new, c_new = step(graph, o, value, name, a, h, c)
    if mask then
      local live = graph:slice(name .. "_live", mask, 1, at - 1, 1)
      h_new, c_new = keep(graph, name, live, h_new, h), keep(graph, name, live, c_new, c)
    end
    h, c = h_new, c_new
    rows[at] = o.return_sequences and graph:reshape(name .. "_row", h, { 1, o.projection }) or nil
  end
  local y = o.return_sequences and host.rows_join(graph, name, rows) or h
  if o.return_state then return y, h, c end
  return y
end
