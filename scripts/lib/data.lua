-- mgb.data: data sets. A data set is a description; it is bound to the inputs of a model when a run opens it.
local mgb, _, host = ...

local data_type = { __name = "data" }
local state = setmetatable({}, { __mode = "k" }) -- data -> { bind = fn(graph, seed), text, bound = { graph -> source } }

function data_type.__tostring(data) return "data: " .. state[data].text end

function data_type.__index(data, name)
  host.fail(("data has no field '%s': it is given to mgb.run, mgb.session and evaluate"):format(tostring(name)))
end

-- `text` says everything that makes it the same data, unless `doubt` says why it cannot.
local function data_new(text, bind, doubt)
  local data = setmetatable({}, data_type)
  state[data] = { bind = bind, text = text, doubt = doubt, bound = setmetatable({}, { __mode = "k" }) }
  return data
end

local function data_check(what, data)
  if not state[data] then
    host.fail(("%s: data expected (as mgb.data.mnist{}), got %s"):format(what, host.describe(data)))
  end
  return data
end

host.data_check = data_check

-- The source of a data set for a graph, the words for it, and why they may not say all.
function host.data_bind(what, data, graph, seed)
  local s = state[data_check(what, data)]
  local source = s.bound[graph]
  if not source then
    source = s.bind(graph, seed)
    s.bound[graph] = source
  end
  return source, s.text, s.doubt
end

local function shipped(name, set, first, last)
  return function(graph)
    local prefix = set == "" and name or name .. "-" .. set
    local source = host.source_idx(graph, {
      { "image", host.data_path(prefix .. "-images-idx3-ubyte.gz") },
      { "label", host.data_path(prefix .. "-labels-idx1-ubyte.gz") } }, true)
    return first and host.source_take(graph, source, first, last) or source
  end
end

local data = {}

-- One batch, drawn once: uniform values, and labels where a loss wants some.
function data.random(options)
  local o = host.read("mgb.data.random", options, { seed = "integer" })
  return data_new(o.seed and "random, seed " .. o.seed or "random", function(graph, seed)
    return host.source_random(graph, o.seed or seed)
  end)
end

-- 9,000 (train) and 1,000 (test) digits of MNIST: image 28 x 28 x 1, label i32.
function data.mnist(options)
  local o = host.read("mgb.data.mnist", options, { split = { "train", "test" } })
  local split = o.split or "train"
  return data_new("mnist " .. split, shipped("mnist", split))
end

-- 1,797 digits of 8 x 8: image 8 x 8 x 1, label i32; train is the first 1,500, test the rest.
function data.digits(options)
  local o = host.read("mgb.data.digits", options, { split = { "train", "test", "all" } })
  local split = o.split or "all"
  local first, last
  if split == "train" then first, last = 0, 1500 elseif split == "test" then first, last = 1500, 1797 end
  return data_new("digits " .. split, shipped("digits", "", first, last))
end

local function inputs_check(what, given, kind)
  if type(given) ~= "table" or next(given) == nil then
    host.fail(("%s: the model's inputs by name expected, as { image = ..., label = ... }"):format(what))
  end
  local names = {}
  for name, value in pairs(given) do
    if type(name) ~= "string" or type(value) ~= kind then
      host.fail(("%s: %s: %s expected, got %s"):format(what, tostring(name), kind == "string" and "file name" or
                "list of rows", host.describe(value)))
    end
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- IDX files, plain or gzip, by input: u8 images become f32 / 255 with a channel axis, labels i32.
function data.idx(files)
  local list, text = {}, {}
  for i, name in ipairs(inputs_check("mgb.data.idx", files, "string")) do
    list[i] = { name, host.script_path(files[name]) }
    text[i] = name .. "=" .. files[name]
  end
  return data_new("idx " .. table.concat(text, " "), function(graph) return host.source_idx(graph, list, true) end)
end

-- Rows written in the script, by input: { x = { {1, 2}, {3, 4} }, label = { 0, 1 } }.
function data.rows(rows)
  inputs_check("mgb.data.rows", rows, "table")
  return data_new("rows " .. host.digest(host.json(rows)), function(graph) return host.source_rows(graph, rows) end)
end

-- The first `count` rows of other data, or those after `skip`.
function data.take(of, options)
  local o = host.read("mgb.data.take", options, { count = "positive!", skip = "count" })
  local first = o.skip or 0
  data_check("mgb.data.take", of)
  return data_new(("rows %d to %d of %s"):format(first, first + o.count - 1, state[of].text), function(graph, seed)
    return host.source_take(graph, (host.data_bind("mgb.data.take", of, graph, seed)), first, first + o.count)
  end, state[of].doubt)
end

-- Other data, every row changed by fn(row) once, when it is bound: row.image is a flat list, row.label a number.
function data.map(of, fn)
  data_check("mgb.data.map", of)
  if type(fn) ~= "function" then host.fail("mgb.data.map: function expected, got " .. host.describe(fn)) end
  local digest, doubt = host.function_digest(fn)
  return data_new(("%s changed by %s"):format(state[of].text, digest), function(graph, seed)
    return host.source_map(graph, (host.data_bind("mgb.data.map", of, graph, seed)), fn)
  end, doubt and "mgb.data.map: " .. doubt or state[of].doubt)
end

for _, name in ipairs{ "npz", "csv", "text", "jsonl" } do
  data[name] = function() host.fail(("mgb.data.%s: not in this version"):format(name)) end
end

mgb.data = host.seal(data, "mgb.data")
