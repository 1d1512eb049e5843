-- mgb.data: data sets. A data set is a description; it is bound to the inputs of a model when a run opens it.
local mgb, _, host = ...

local data_type = { __name = "data" }
local state = setmetatable({}, { __mode = "k" }) -- data -> { bind = fn(graph, seed), text, words, bound = { graph -> source } }

function data_type.__tostring(data) return "data: " .. state[data].text end

-- What data of words tells besides; reading the file if need be.
local facts = {}

function facts.vocabulary(words) return (host.corpus_facts(words())) end

function facts.skipped(words) return select(2, host.corpus_facts(words())) end

function facts.word(words)
  return function(_, number)
    if math.type(number) ~= "integer" then host.fail("word: integer expected, got " .. host.describe(number)) end
    return host.corpus_word(words(), number)
  end
end

function data_type.__index(data, name)
  local words = state[data].words
  if words and facts[name] then return facts[name](words) end
  host.fail(("data has no field '%s': it is given to mgb.run, mgb.session and evaluate%s"):format(tostring(name),
            words and "; a text has vocabulary, skipped and word()" or ""))
end

-- `text` says everything that makes it the same data, unless `doubt` says why it cannot. `words`: gives the words it is of.
local function data_new(text, bind, doubt, words)
  local data = setmetatable({}, data_type)
  state[data] = { bind = bind, text = text, doubt = doubt, words = words, bound = setmetatable({}, { __mode = "k" }) }
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
  end, state[of].doubt, state[of].words)
end

-- Other data, every row changed by fn(row) once, when it is bound: row.image is a flat list, row.label a number.
function data.map(of, fn)
  data_check("mgb.data.map", of)
  if type(fn) ~= "function" then host.fail("mgb.data.map: function expected, got " .. host.describe(fn)) end
  local digest, doubt = host.function_digest(fn)
  return data_new(("%s changed by %s"):format(state[of].text, digest), function(graph, seed)
    return host.source_map(graph, (host.data_bind("mgb.data.map", of, graph, seed)), fn)
  end, doubt and "mgb.data.map: " .. doubt or state[of].doubt, state[of].words)
end

-- A file, relative to the script, and the words that tell it from others. Without one: that which comes with mgbench.
local function file_find(file, shipped_name)
  local path = file and host.script_path(file) or host.data_path(shipped_name)
  return path, ("%s (%s)"):format(file or shipped_name, host.file_digest(path))
end

-- Arrays of numpy by input: entries of the archive `file`, those of the inputs' names unless said, or .npy files of their own.
function data.npz(options)
  local names = inputs_check("mgb.data.npz", options, "string")
  local path, text = nil, "npy"
  if options.file then
    path, text = file_find(options.file)
    text = "npz " .. text
  end
  local list = {}
  for _, name in ipairs(names) do
    if name ~= "file" then
      local entry, said = options[name], options[name]
      if not path then entry, said = file_find(entry) end
      list[#list + 1] = { name, entry }
      text = text .. " " .. name .. "=" .. said
    end
  end
  local named = #list > 0 -- else every input has the entry of its name
  return data_new(text, function(graph)
    if not named then
      list = {}
      for i, name in ipairs(graph:inputs()) do list[i] = { name, name } end
    end
    return host.source_npz(graph, path, list)
  end)
end

-- One column or a list of them, by name or number; "first:last" stands for those between.
local function columns_read(what, value)
  local list = type(value) == "table" and value or { value }
  local columns = {}
  for i, column in ipairs(list) do
    if type(column) ~= "string" and math.type(column) ~= "integer" then
      host.fail(("%s: name or number of a column expected, got %s"):format(what, host.describe(column)))
    end
    columns[i] = tostring(column)
  end
  if #columns == 0 or type(value) == "table" and #columns ~= #value then
    host.fail(("%s: columns expected, as \"width\", { \"a\", \"b\" } or \"a:d\", got %s"):format(what, host.describe(value)))
  end
  return columns
end

local csv_options = { file = "string", header = "boolean", separator = "string", classes = "table" }

local function csv_options_check(options)
  if type(options) ~= "table" then host.fail("mgb.data.csv: table expected, got " .. host.describe(options)) end
  for key, kind in pairs(csv_options) do
    if options[key] ~= nil and type(options[key]) ~= kind then
      host.fail(("mgb.data.csv: %s: %s expected, got %s"):format(key, kind == "string" and "text" or kind == "table" and
                "list of names" or "true or false", host.describe(options[key])))
    end
  end
  if not options.file then host.fail("mgb.data.csv: file: text expected, got nil") end
  local separator = options.separator or ","
  if #separator ~= 1 or separator:find('["%z\r\n\128-\255]') then
    host.fail("mgb.data.csv: separator: one character expected, as \",\" or \";\", got " .. host.describe(separator))
  end
  for _, name in ipairs(options.classes or {}) do
    if type(name) ~= "string" then host.fail("mgb.data.csv: classes: names expected, got " .. host.describe(name)) end
  end
  return separator
end

-- Columns of a CSV file by input: numbers, and for a single i32 input names of classes.
function data.csv(options)
  local separator = csv_options_check(options)
  local list, said = {}, {}
  for name, value in pairs(options) do
    if type(name) ~= "string" then host.fail("mgb.data.csv: inputs by name expected, got " .. host.describe(value)) end
    if not csv_options[name] then list[#list + 1] = { name, columns_read("mgb.data.csv: " .. name, value) } end
  end
  if #list == 0 then
    host.fail("mgb.data.csv: columns for the model's inputs expected, as { file = ..., x = \"a:d\", label = \"species\" }")
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  for i, entry in ipairs(list) do said[i] = entry[1] .. "=" .. table.concat(entry[2], ",") end
  local path, text = file_find(options.file)
  local headless, classes = options.header == false, options.classes
  text = ("csv %s %s%s%s%s"):format(text, table.concat(said, " "), headless and " no header" or "",
    separator ~= "," and " separator " .. separator or "", classes and " classes " .. table.concat(classes, ",") or "")
  return data_new(text, function(graph) return host.source_csv(graph, path, list, headless, separator, classes) end)
end

-- Reads words when they are first asked for. `vocabulary`: how many numbers at most, or other data whose words they are.
local function words_lazy(what, vocabulary, read)
  local as, said, corpus = nil, "", nil
  if state[vocabulary] then
    as = state[vocabulary].words or host.fail(("%s: vocabulary: %s has none"):format(what, state[vocabulary].text))
    said = " with the vocabulary of " .. state[vocabulary].text
  elseif math.type(vocabulary) == "integer" and vocabulary > 1 then
    said = " vocabulary " .. vocabulary
  elseif vocabulary ~= nil then
    host.fail(("%s: vocabulary: integer from 2 up, or data with a vocabulary, expected, got %s"):format(what,
              host.describe(vocabulary)))
  end
  return function()
    corpus = corpus or read(not as and vocabulary or 0, as and as())
    return corpus
  end, said
end

-- A text as characters or words: rows of `seq` numbers, and as label the same shifted by one.
function data.text(options)
  local o = host.read("mgb.data.text", options, { file = "text", seq = "positive", unit = { "char", "word" },
    vocabulary = "any", input = "text", label = "text" })
  local path, text = file_find(o.file, "northanger-abbey.txt.gz")
  local unit, label = o.unit or "char", o.label or "label"
  local words, said = words_lazy("mgb.data.text", o.vocabulary, function(most, as)
    return host.corpus_text(path, unit == "word", most, as)
  end)
  text = ("text %s %s, rows of %s for %s and %s%s"):format(text, unit, o.seq or "the model's length",
    o.input or "the first input", label, said)
  return data_new(text, function(graph) return host.source_text(graph, words(), o.input, label, o.seq) end, nil, words)
end

-- Pairs of sentences in lines of JSON, as SNLI has them. Without a file: a dozen to try things with.
function data.jsonl(options)
  local o = host.read("mgb.data.jsonl", options, { file = "text", vocabulary = "any", sentence1 = "text",
    sentence2 = "text", label = "text" })
  local path, text = file_find(o.file, "snli-sample.jsonl")
  local one, two, label = o.sentence1, o.sentence2, o.label or "label"
  local words, said = words_lazy("mgb.data.jsonl", o.vocabulary, function(most, as)
    return host.corpus_pairs(path, nil, most, as)
  end)
  text = ("jsonl %s for %s%s"):format(text, ("%s, %s, %s"):format(one or "the first input", two or "the second",
    label), said)
  return data_new(text, function(graph) return host.source_pairs(graph, words(), one, two, label) end, nil, words)
end

-- The path of a file of scripts/data, as found or installed.
function data.shipped(name) return host.data_path(name) end

host.data = data -- mgb.data once data_open.lua has added to it
