-- The table that describes a machine for the simulator. What users write becomes flat lists here, which
-- app/script/machine_read.c turns into the engine's struct; what is read is counted as a figure, and each figure needs a source.
local _, _, host = ...

local whole_kinds = { name = "text!", summary = "text", source = "any", host = "table", gpu = "table", gpus = "table",
  links = "table", peers = "table", collective = "table", jitter = "table", cpu_devices = "boolean", uncertainty = "rate",
  costs = "table", speeds = "table", nodes = "positive", network = "table" }
local unit_kinds = { name = "text", source = "any", memory_gib = "amount", memory_gbps = "amount", f32_tflops = "amount",
  tf32_tflops = "amount", bf16_tflops = "amount", f16_tflops = "amount", launch_us = "amount", efficiency = "table" }
local gpu_kinds = { count = "positive", multiprocessors = "count", copies_in = "positive", copies_out = "positive",
  one_engine = "boolean", board_size = "positive", board_speed = "rate" }
local host_kinds = { cores = "positive", core_total = "amount", reduce_gbps = "amount", pageable_gbps = "amount",
  submit_us = "amount", step_us = "amount", inputs_ready = "boolean", sums_apart = "boolean", copy_waits = { "none", "sender", "both" } }
for key, kind in pairs(unit_kinds) do gpu_kinds[key], host_kinds[key] = kind, kind end
local collective_kinds = { source = "any", start_us = "amount", hop_us = "amount", network_hop_us = "amount",
  ring_share = "rate", tree_share = "rate", switch_gbps = "amount",
  compute_share = "rate" }

local factor_names = host.op_kinds() -- what efficiency may have a factor for, beside compute and memory
for _, name in ipairs{ "copy", "reduce", "allreduce", "fill", "norm", "clip", "update", "cast", "merge" } do factor_names[name] = true end
local efficiency_names = { compute = true, memory = true }
for name in pairs(factor_names) do efficiency_names[name] = true end

-- A factor's name: a kind, or that of a convolution with the size of its kernel behind it (conv2d_3x3).
local function is_factor(name)
  local kind = name:match("^([%w_]*conv2d[%w_]*)_%d%d?x%d%d?$")
  return factor_names[kind or name] ~= nil
end

local no_figure = { name = true, source = true, count = true, one_engine = true, copy_waits = true, efficiency = true }
local most_pairs = 1048576

local function fail(s, format, ...) host.fail(s.what .. ": " .. format:format(...)) end

-- The path of something that needs a source.
local function figure(s, path)
  if not s.figures[path] then s.figures[path], s.figures[#s.figures + 1] = true, path end
end

-- Sources at `path`: a text for all below it, or a table of texts and tables by field.
local function sources_read(s, path, given)
  if given == nil then return end
  local where = path == "" and "source" or "source of " .. path
  if type(given) == "string" then
    if not given:find("%S") or given:find("\0", 1, true) or not utf8.len(given) then
      fail(s, "%s: a text expected, got %s", where, host.describe(given))
    end
    if s.sources[path] == nil then s.sources[path], s.sources[#s.sources + 1] = given, path end
    return
  end
  if type(given) ~= "table" then
    fail(s, "%s: a text, or a table of them by field, expected, got %s", where, host.describe(given))
  end
  s.depth = (s.depth or 0) + 1
  if s.depth > 8 then fail(s, "%s: tables within tables 8 deep", where) end
  local keys = {}
  for key in pairs(given) do
    if type(key) ~= "string" then fail(s, "%s: %s stands without the name of a field", where, host.describe(given[key])) end
    keys[#keys + 1] = key
  end
  table.sort(keys)
  for _, key in ipairs(keys) do sources_read(s, (path == "" and "" or path .. ".") .. key, given[key]) end
  s.depth = s.depth - 1
end

-- Reads options `given` at `path`; numbers become figures and `source` is taken.
local function part_read(s, path, given, kinds, list)
  local o = host.read(s.what .. ": " .. path, given, kinds, list)
  local keys = {}
  for key, value in pairs(o) do
    if not no_figure[key] and type(value) == "number" then keys[#keys + 1] = key end
  end
  table.sort(keys)
  for _, key in ipairs(keys) do figure(s, path .. "." .. key) end
  sources_read(s, path, o.source)
  return o
end

-- { { size, share }, ... } as one list.
local function curve_read(s, path, given)
  local flat = {}
  if type(given) ~= "table" then fail(s, "%s: { { size, share }, ... } expected, got %s", path, host.describe(given)) end
  for key in pairs(given) do
    if math.type(key) ~= "integer" or key < 1 or key > #given then
      fail(s, "%s: { { size, share }, ... } expected, got one with the key %s", path, host.describe(key))
    end
  end
  if #given == 0 then fail(s, "%s: { { size, share }, ... } expected, got an empty table", path) end
  for i, knot in ipairs(given) do
    if type(knot) ~= "table" or #knot ~= 2 or type(knot[1]) ~= "number" or type(knot[2]) ~= "number" then
      fail(s, "%s[%d]: { size, share } expected, got %s", path, i, host.describe(knot))
    end
    flat[#flat + 1], flat[#flat + 2] = knot[1], knot[2]
  end
  figure(s, path)
  return flat
end

-- Curves compute and memory, and factors by kind of operator or task.
local function efficiency_read(s, path, given, out)
  local names = {}
  for name in pairs(given or {}) do
    if type(name) ~= "string" or not efficiency_names[name] and not is_factor(name) then
      fail(s, "%s: unknown option '%s'%s", path, tostring(name), host.hint(tostring(name), efficiency_names))
    end
    names[#names + 1] = name
  end
  table.sort(names)
  out.factors = {}
  for _, name in ipairs(names) do
    local at, value = path .. "." .. name, given[name]
    if not is_factor(name) then
      out[name] = curve_read(s, at, value)
    elseif type(value) ~= "number" then
      fail(s, "%s: number expected, got %s", at, host.describe(value))
    else
      figure(s, at)
      out.factors[#out.factors + 1], out.factors[#out.factors + 2] = name, value
    end
  end
end

local function unit_read(s, path, given, kinds)
  local o = part_read(s, path, given, kinds)
  local curves = o.efficiency
  efficiency_read(s, path .. ".efficiency", curves, o)
  o.label, o.memory = o.name, o.memory
  return o
end

-- The GPUs of one node, in groups of equal ones.
local function gpus_read(s, o)
  local groups, count = {}, 0
  if o.gpu and o.gpus then fail(s, "gpu and gpus exclude each other: one table for equal GPUs, or a list of unlike ones") end
  for key in pairs(o.gpus or {}) do
    if math.type(key) ~= "integer" or key < 1 or key > #o.gpus then
      fail(s, "gpus: a list of tables expected, got one with the key %s", host.describe(key))
    end
  end
  for i, given in ipairs(o.gpus or { o.gpu }) do
    local path = o.gpus and ("gpus.%d"):format(i) or "gpu"
    if type(given) ~= "table" then fail(s, "%s: table expected, got %s", path, host.describe(given)) end
    local group = unit_read(s, path, given, gpu_kinds)
    for _, key in ipairs{ "f32_tflops", "memory_gbps" } do
      if not group[key] then fail(s, "%s: %s: number expected, got nil", path, key) end
    end
    group.count = group.count or 1
    groups[i], count = group, count + group.count
  end
  return groups, count
end

-- The number of a device, of one node, from its name.
local function gpu_number(s, what, name)
  local canonical = type(name) == "string" and host.machine_device(name)
  local number = canonical and math.tointeger(tonumber(canonical:match("^/gpu:(%d+)$")))
  if not number or number >= s.gpu_count then
    fail(s, "%s: a GPU from /gpu:0 to /gpu:%d expected, got %s", what, s.gpu_count - 1, host.describe(name))
  end
  return number
end

-- The number of an end of a link: /cpu:0 is 0, then GPUs, then switches, which exist by being named.
local function end_number(s, path, name)
  if type(name) ~= "string" or name == "" then
    fail(s, "%s: two ends expected, as { \"/cpu:0\", \"sw0\", gbps = 12 }; got %s", path, host.describe(name))
  end
  local known = s.ends[name]
  if known then return known end
  local canonical = host.machine_device(name)
  if canonical == "/cpu:0" then
    known = 0
  elseif canonical or name:sub(1, 1) == "/" then
    known = 1 + gpu_number(s, path, name)
  else
    s.switches[#s.switches + 1] = name
    known = -#s.switches
  end
  s.ends[name] = known
  return known
end

local link_kinds = { gbps = "amount!", back_gbps = "amount", latency_us = "amount", kind = "text" }

-- Of one node: { a, b, gbps, back_gbps, latency_us, kind, ... }; a switch has a number below 0.
local function links_read(s, given)
  local wires, source = {}, given and given.source
  for key in pairs(given or {}) do
    if key ~= "source" and (math.type(key) ~= "integer" or key < 1 or key > #given) then
      fail(s, "links: a list of links and source expected, got the key %s", host.describe(key))
    end
  end
  for i, link in ipairs(given or {}) do
    local path = ("links[%d]"):format(i)
    if type(link) ~= "table" then fail(s, "%s: { end, end, gbps = ... } expected, got %s", path, host.describe(link)) end
    local o = host.read(s.what .. ": " .. path, link, link_kinds, 2)
    local kind = o.kind or "pcie"
    if #kind > 15 or not kind:match("^[%w_-]+$") then
      fail(s, "%s: kind: a word of at most 15 letters expected, got %s", path, host.describe(kind))
    end
    figure(s, ("links.%s.gbps"):format(kind))
    if o.latency_us then figure(s, ("links.%s.latency_us"):format(kind)) end
    for _, value in ipairs{ end_number(s, path, link[1]), end_number(s, path, link[2]), o.gbps, o.back_gbps or 0,
                            o.latency_us or 0, kind } do
      wires[#wires + 1] = value
    end
  end
  sources_read(s, "links", source)
  return wires
end

local side_kinds = { gbps = "amount", latency_us = "amount" }

-- on = 9.5, on = { 9.5, 8 } or on = { gbps = 9.5, latency_us = 8 }
local function side_read(s, path, given)
  if given == nil then return nil end
  if type(given) == "number" then given = { gbps = given } end
  if type(given) ~= "table" then fail(s, "%s: { gbps =, latency_us = } expected, got %s", path, host.describe(given)) end
  if given[1] ~= nil or given[2] ~= nil then
    if #given > 2 or given.gbps ~= nil or given.latency_us ~= nil then
      fail(s, "%s: { gbps, latency_us } or { gbps =, latency_us = } expected, got both", path)
    end
    given = { gbps = given[1], latency_us = given[2] }
  end
  local o = host.read(s.what .. ": " .. path, given, side_kinds)
  for key in pairs(o) do figure(s, "peers." .. path:match("%a+$") .. "." .. key) end
  return o
end

-- The GPUs that one end of an entry of peers means.
local function peer_ends(s, path, given)
  local list = {}
  if given == "*" then
    for i = 0, s.gpu_count - 1 do list[#list + 1] = i end
    return list
  end
  for _, name in ipairs(type(given) == "table" and given or { given }) do list[#list + 1] = gpu_number(s, path, name) end
  if #list == 0 then fail(s, "%s: two GPUs, lists of them or \"*\" expected, got %s", path, host.describe(given)) end
  return list
end

local function pair_say(s, from, to, entry)
  local key = from * s.gpu_count + to
  local pair = s.pairs[key] or { from = from, to = to }
  if not s.pairs[key] then
    s.pairs[key], s.pairs_order[#s.pairs_order + 1] = pair, key
    if #s.pairs_order > most_pairs then fail(s, "peers: at most %d pairs expected", most_pairs) end
  end
  if entry.access ~= nil then pair.access = entry.access end
  for _, side in ipairs{ "on", "off" } do
    for field, value in pairs(entry[side] or {}) do pair[side .. field] = value end
  end
end

local peer_kinds = { on = "any", off = "any", access = "boolean", one_way = "boolean" }

-- An entry holds for all pairs of its ends, both ways unless one_way; later ones win.
local function peers_read(s, given)
  local kinds = { source = "any", on = "any", off = "any", access = "boolean" }
  local all = host.read(s.what .. ": peers", given, kinds, 0x7fffffff)
  s.pairs, s.pairs_order = {}, {}
  for key in pairs(given or {}) do
    if math.type(key) == "integer" and key > #given then fail(s, "peers: entry %d is missing", #given + 1) end
  end
  local function say(path, entry, ends)
    local o = { access = entry.access, on = side_read(s, path .. "on", entry.on), off = side_read(s, path .. "off", entry.off) }
    for _, from in ipairs(ends[1]) do
      for _, to in ipairs(ends[2]) do
        if from ~= to then
          pair_say(s, from, to, o)
          if not entry.one_way then pair_say(s, to, from, o) end
        end
      end
    end
  end
  if all.on ~= nil or all.off ~= nil or all.access ~= nil then
    if s.gpu_count > 1024 then fail(s, "peers: figures of all pairs are for machines of at most 1024 GPUs a node") end
    local every = peer_ends(s, "peers", "*")
    say("peers.", { on = all.on, off = all.off, access = all.access, one_way = true }, { every, every })
  end
  for i, entry in ipairs(given or {}) do
    local path = ("peers[%d]"):format(i)
    if type(entry) ~= "table" then fail(s, "%s: { GPU, GPU, on =, off = } expected, got %s", path, host.describe(entry)) end
    local o = host.read(s.what .. ": " .. path, entry, peer_kinds, 2)
    say(path .. ".", o, { peer_ends(s, path, entry[1]), peer_ends(s, path, entry[2]) })
  end
  sources_read(s, "peers", all.source)
end

-- Where the wires of a node to the network begin.
local function network_read(s, o)
  if o.nodes and o.nodes > 1 and not o.network then fail(s, "nodes: network = { gbps =, latency_us = } expected beside it") end
  if not o.network then return nil end
  local net = part_read(s, "network", o.network, { source = "any", gbps = "amount!", back_gbps = "amount",
                                                   latency_us = "amount", at = "any" })
  net.ends = {}
  for i, name in ipairs(type(net.at) == "table" and net.at or { net.at or "/cpu:0" }) do
    if type(name) == "string" and name ~= "/cpu:0" and not s.ends[name] then
      fail(s, "network: at: /cpu:0 or a switch of links expected, got %s", host.describe(name))
    end
    net.ends[i] = end_number(s, "network: at", name)
  end
  return net
end

-- Nodes alike, joined by a network: the hosts of all but the first are switches, which computes nothing.
local function nodes_join(s, flat, wires, net)
  local nodes, gpus, switches = s.nodes, s.gpu_count, s.switches
  local devices, per_node = 1 + nodes * gpus, #switches
  local out, names = {}, table.move(switches, 1, per_node, 1, {})
  local function number(node, at)
    if at > 0 then return at + node * gpus end
    if node == 0 then return at == 0 and 0 or devices - at - 1 end
    local first = devices + per_node + (node - 1) * (per_node + 1)
    return at == 0 and first or first - at
  end
  local function add(...)
    local at = #out
    for i = 1, 6 do out[at + i] = select(i, ...) end
  end
  for node = 0, nodes - 1 do
    if node > 0 then
      names[#names + 1] = "node" .. node
      for _, name in ipairs(switches) do names[#names + 1] = ("node%d/%s"):format(node, name) end
    end
    for i = 1, #wires, 6 do
      add(number(node, wires[i]), number(node, wires[i + 1]), table.unpack(wires, i + 2, i + 5))
    end
  end
  if net then
    names[#names + 1] = "network"
    for node = 0, nodes - 1 do
      for _, at in ipairs(net.ends) do
        add(number(node, at), devices + #names - 1, net.gbps, net.back_gbps or 0, net.latency_us or 0, "network")
      end
    end
  end
  flat.switches, flat.wires, flat.pairs = names, out, {}
  if #s.pairs_order * nodes > most_pairs then fail(s, "peers: at most %d pairs of all nodes expected", most_pairs) end
  for node = 0, nodes - 1 do
    for _, key in ipairs(s.pairs_order) do
      local p = s.pairs[key]
      local at = #flat.pairs
      for i, value in ipairs{ 1 + node * gpus + p.from, 1 + node * gpus + p.to, p.access == false and 1 or 0, p.ongbps or 0,
                              p.onlatency_us or 0, p.offgbps or 0, p.offlatency_us or 0 } do
        flat.pairs[at + i] = value
      end
    end
  end
end

-- { { "0123456789abcdef", threads, rows, ns, rows, ns, ... }, ... }, as mgb.calibrate writes them.
local function costs_check(s, given)
  for key in pairs(given) do
    if key ~= "source" and (math.type(key) ~= "integer" or key < 1 or key > #given) then
      fail(s, "costs: a list expected, got the key %s", host.describe(key))
    end
  end
  for i, cost in ipairs(given) do
    local good = type(cost) == "table" and type(cost[1]) == "string" and cost[1]:match("^%x+$") and #cost[1] == 16 and
                 #cost >= 4 and #cost % 2 == 0
    for k = 2, good and #cost or 1 do
      local kind = math.type(cost[k])
      good = good and (kind == "integer" or kind == "float" and k % 2 == 0 and k > 2)
    end
    if not good then
      fail(s, "costs[%d]: { \"16 digits of the signature\", threads, rows, ns, rows, ns, ... } expected, got %s", i,
           host.describe(cost))
    end
  end
  figure(s, "costs")
  sources_read(s, "costs", given.source)
end

local function speeds_read(s, given)
  local flat, names = {}, {}
  for name in pairs(given) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for _, name in ipairs(names) do
    local value = given[name]
    if name == "source" then
      sources_read(s, "speeds", value)
    else
      local canonical = type(name) == "string" and host.machine_device(name)
      local number = canonical and math.tointeger(tonumber(canonical:match("^/gpu:(%d+)$")))
      if not number or number >= s.gpu_count * s.nodes then
        fail(s, "speeds: a GPU from /gpu:0 to /gpu:%d expected, got %s", s.gpu_count * s.nodes - 1, host.describe(name))
      end
      if type(value) ~= "number" or not (value > 0) then
        fail(s, "speeds: %s: number above 0 expected, got %s", name, host.describe(value))
      end
      figure(s, "speeds")
      flat[#flat + 1], flat[#flat + 2] = number + 1, value
    end
  end
  return flat
end

-- Is there a source for `path` or for what it is part of?
local function is_covered(s, path)
  while true do
    if s.sources[path] then return true end
    if path == "" then return false end
    path = path:match("^(.*)%.[^.]*$") or ""
  end
end

-- Every figure has a source, and every source is of a figure. Returns them as text.
local function sources_check(s)
  local known, lines = { [""] = true }, {}
  for _, path in ipairs(s.figures) do
    local at = path
    while at ~= "" do
      known[at] = true
      at = at:match("^(.*)%.[^.]*$") or ""
    end
    if not is_covered(s, path) then
      if #s.sources == 0 then fail(s, "source: where its figures come from expected, got nil") end
      fail(s, "source: nothing says where %s comes from", path)
    end
  end
  table.sort(s.sources)
  for _, path in ipairs(s.sources) do
    if not known[path] then
      fail(s, "source: '%s' is no figure of this machine%s", path, host.hint(path, known))
    end
    lines[#lines + 1] = path == "" and s.sources[path] or ("%s: %s"):format(path, s.sources[path])
  end
  return table.concat(lines, "\n")
end

local waits = { none = 0, sender = 1, both = 2 }

function host.machine_describe(given)
  local o = host.read("mgb.machine", given, whole_kinds)
  local s = { what = ("mgb.machine '%s'"):format(o.name), figures = {}, sources = {}, ends = {}, switches = {},
              nodes = o.nodes or 1 }
  if #o.name > 63 then fail(s, "name: at most 63 bytes expected, got %d", #o.name) end
  if o.summary and #o.summary > 127 then fail(s, "summary: at most 127 bytes expected, got %d", #o.summary) end
  sources_read(s, "", o.source)
  local flat = { name = o.name, summary = o.summary, nodes = s.nodes, cpu_devices = o.cpu_devices }
  flat.host = unit_read(s, "host", o.host, host_kinds)
  flat.cpu, flat.host.copy_waits = flat.host, waits[flat.host.copy_waits]
  flat.gpus, s.gpu_count = gpus_read(s, o)
  if s.gpu_count * s.nodes > 131072 then fail(s, "at most 131072 GPUs expected, got %d", s.gpu_count * s.nodes) end
  local wires = links_read(s, o.links)
  peers_read(s, o.peers)
  nodes_join(s, flat, wires, network_read(s, o))
  flat.collective = part_read(s, "collective", o.collective, collective_kinds)
  local jitter = part_read(s, "jitter", o.jitter, { source = "any", device = "rate", step = "rate" })
  flat.device_sigma, flat.step_sigma, flat.uncertainty = jitter.device, jitter.step, o.uncertainty
  if o.uncertainty then figure(s, "uncertainty") end
  if o.costs then costs_check(s, o.costs) end
  flat.costs = o.costs
  flat.speeds = o.speeds and speeds_read(s, o.speeds)
  flat.source, flat.file = sources_check(s), host.machine_file
  return host.machine_make(flat)
end
