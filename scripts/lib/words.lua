-- Reads the words that app/cli/settings.h describes: what commands and the workbench are started with.
local mgb, _, host = ...

local function number_or_word(text)
  if text == "true" then return true elseif text == "false" then return false end
  return tonumber(text) or text
end

host.words_value = number_or_word -- of a model's option

local function ids_read(text)
  local ids = {}
  for id in text:gmatch("%d+") do ids[#ids + 1] = math.tointeger(tonumber(id)) end
  return ids
end

local function number_or_text(text) return tonumber(text) or text end

local readers = { t = number_or_text, n = tonumber, b = function(text) return text == "true" end, l = ids_read, s = tostring, f = tostring,
                  w = number_or_word }

-- { run =, optimizer =, model =, placement = }: options by name; and the placement of the other side when there is one.
function host.words_read(words)
  local side = { run = {}, optimizer = {}, model = {}, placement = {} }
  local groups = { r = side.run, d = side.run, o = side.optimizer, m = side.model, p = side.placement }
  local against
  for _, word in ipairs(words) do
    local group, kind, name, text = word:match("^(.)(.):([^=]*)=(.*)$")
    if group == "x" then
      against = {}
      for key, value in pairs(side.placement) do against[key] = value end
      groups.p = against
    else
      groups[group][name] = readers[kind](text)
      if groups.p == against and group == "p" then -- one clears the other
        if name == "batch" then against.global_batch = nil elseif name == "global_batch" then against.batch = nil end
      end
    end
  end
  return side, against
end

-- The optimizer of { optimizer = kind, lr = ... }; nil when nothing was given.
function host.words_optimizer(given)
  if next(given) == nil then return nil end
  local kind, values = given.optimizer or "sgd", {}
  for key, value in pairs(given) do
    if key ~= "optimizer" then values[key] = value end
  end
  return mgb[kind](values)
end

-- A script in place of a model would do all its work before it is seen to be none: what begins work is told apart.
local function file_load(file, refuse)
  local real = {}
  local _ <close> = setmetatable({}, { __close = function()
    for name, value in pairs(real) do rawset(mgb, name, value) end
  end })
  for _, name in ipairs{ "options", "run", "session", "sweep", "verify" } do
    real[name] = mgb[name]
    rawset(mgb, name, function()
      refuse(("'%s' is a script and no model: it calls mgb.%s; to run it: mgbench -e %s"):format(file, name, file))
    end)
  end
  local model = dofile(file)
  if type(model) == "string" or not pcall(mgb.model, model) then
    refuse(("'%s' gives back no model (%s): the file should end in return nn.model(...)"):format(file, type(model)))
  end
  return model
end

-- Whether a word is a file of a model, and no name.
function host.words_is_file(word) return word:find("/") ~= nil or word:find("%.lua$") ~= nil end

-- The model of a name, or of a file, with options; `refuse` raises what is wrong with the word or them.
function host.words_model(word, options, refuse)
  local model = mgb.model(host.words_is_file(word) and file_load(word, refuse) or word)
  if next(options) == nil then return model end
  local ok, made = pcall(model, options)
  return ok and made or refuse(tostring(made))
end
