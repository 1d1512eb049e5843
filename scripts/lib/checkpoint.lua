-- Checkpoints: saving and loading, for sessions, results and what a run begins with.
local _, _, host = ...

host.anywhere = {} -- with it a file may be saved outside the output folder: whoever named it is no script

local function path_read(what, path)
  if type(path) ~= "string" or path == "" then
    host.fail(("%s: the name of a file expected, as \"w.safetensors\", got %s"):format(what, host.describe(path)))
  end
  return path
end

-- { path =, partial =, optimizer = } of what users write.
local function load_make(what, path, options)
  local o = host.read(what, options, { strict = "boolean", optimizer = "boolean" })
  return { path = path_read(what, path), partial = o.strict == false, optimizer = o.optimizer }
end

-- Of the option `load` of a run: a file, or { file, strict =, optimizer = }.
function host.load_read(what, given)
  if given == nil then return nil end
  what = what .. ": load"
  if type(given) ~= "table" then return load_make(what, given) end
  local options = {}
  for key, value in pairs(given) do
    if key ~= 1 then options[key] = value end
  end
  return load_make(what, given[1], options)
end

-- What came of loading is told where it is not the whole.
function host.load_tell(path, loaded)
  if loaded.remark then host.remark(("%s: %s"):format(path, loaded.remark), "checkpoint") end
  local left = #loaded.missing + #loaded.unexpected
  if left > 0 then
    host.remark(("%s: %d tensors loaded; %d of the model are not in it, %d in it are not the model's"):format(path, loaded.tensors,
                #loaded.missing, #loaded.unexpected), "checkpoint")
  end
  return loaded
end

function host.look.save(s, path, anywhere) s.session:save(path_read("save", path), anywhere == host.anywhere) end

function host.look.load(s, path, options)
  local load = load_make("load", path, options)
  local loaded = s.session:load{ load = load }
  if host.loaded then host.loaded(s, path, options) end
  return host.load_tell(path, loaded)
end
