-- mgb.data.open: a data set in one word, as --data and the terminal program take it: a name or a file, whose end tells what
-- it is, and behind a colon the options of the function of mgb.data that reads it.
local mgb, _, host = ...
local data = host.data

-- Kinds by name. `bare`: words that stand for an option; `whole`: options that are integers.
local kinds = {
  random = { whole = { seed = true } },
  digits = { bare = { train = { "split", "train" }, test = { "split", "test" }, all = { "split", "all" } } },
  mnist = { bare = { train = { "split", "train" }, test = { "split", "test" } } },
  text = { bare = { char = { "unit", "char" }, chars = { "unit", "char" }, word = { "unit", "word" },
                    words = { "unit", "word" } }, whole = { seq = true, vocabulary = true } },
  jsonl = { whole = { vocabulary = true } },
  npz = {}, csv = {}, idx = {},
}
local ends = { txt = "text", text = "text", jsonl = "jsonl", npz = "npz", csv = "csv" }
local truths = { yes = true, ["true"] = true, no = false, ["false"] = false }

local function kind_of_file(name)
  local plain = name:lower():gsub("%.gz$", "")
  return ends[plain:match("%.(%w+)$")]
end

local function kind_refuse(name)
  host.fail(("data: '%s' is no data set%s and no file whose end tells its kind: random, digits, mnist, a file .txt, .jsonl, " ..
             ".csv (or these with .gz) or .npz expected; another is said as text:file=%s"):format(name,
             host.hint(name, kinds), name ~= "" and name or "NAME"))
end

-- One of csv: "a:d" or "a+b" of columns, yes or no of header.
local function csv_value(name, text)
  if name == "header" then return truths[text] end
  if name == "separator" or not text:find("+", 1, true) then return text end
  local columns = {}
  for column in text:gmatch("[^+]+") do columns[#columns + 1] = column end
  return columns
end

local function bare_words(kind)
  local words = {}
  for word in pairs(kinds[kind].bare or {}) do words[#words + 1] = word end
  table.sort(words)
  return words[1] and " or " .. table.concat(words, " or ") or ""
end

local function option_read(kind, options, part)
  local name, text = part:match("^([^=]+)=(.*)$")
  local bare = not name and (kinds[kind].bare or {})[part]
  if bare then name, text = bare[1], bare[2] end
  if not name then
    host.fail(("data: %s: NAME=VALUE%s expected, got '%s'"):format(kind, bare_words(kind), part))
  end
  if options[name] ~= nil then host.fail(("data: %s: %s is given twice"):format(kind, name)) end
  local value = text
  if (kinds[kind].whole or {})[name] then value = math.tointeger(tonumber(text)) or text end
  if kind == "csv" then
    value = csv_value(name, text)
    if value == nil then host.fail(("data: csv: header: yes or no expected, got '%s'"):format(text)) end
  end
  options[name] = value
end

-- "mnist:test", "novel.txt:words,vocabulary=10000", "x.npz:image=x_train,label=y_train", "iris.csv:x=1:4,label=species".
function data.open(word)
  if type(word) ~= "string" then host.fail("mgb.data.open: name or file expected, got " .. host.describe(word)) end
  local name, rest = word:match("^([^:]*):?(.*)$")
  local kind = kinds[name] and name or kind_of_file(name) or kind_refuse(name)
  local options = { file = not kinds[name] and name or nil }
  for part in rest:gmatch("[^,]+") do option_read(kind, options, part) end
  if kind == "csv" and rest == "" then
    host.fail(("data: which columns of '%s' are which input? As %s:x=1:4,label=species"):format(name, name))
  end
  return data[kind](options)
end

mgb.data = host.seal(data, "mgb.data")
