-- mgb.session: a model in training whose placement a script changes between steps.
local mgb, _, host = ...

local session_type = { __name = "session" }
local states = setmetatable({}, { __mode = "k" }) -- session -> as host.prepare made it, with `placement`

local methods = {}
for name, look in pairs(host.look) do
  methods[name] = function(session, ...)
    return look(states[session] or host.fail("write s:" .. name .. "(...), with a colon"), ...)
  end
end

local function state_of(session, name)
  return states[session] or host.fail("write s:" .. name .. "(...), with a colon")
end

-- Exactly `count` steps; what comes back are the figures of the segment in force, and the losses of these steps unless `bare`.
function host.session_step(session, count, options, bare)
  local s = state_of(session, "step")
  local o = host.read("s:step", options, { trace_every = "count" })
  if count == nil then count = 1 end
  if math.type(count) ~= "integer" or count < 1 or count > host.most_steps then
    host.fail(("s:step: integer from 1 to %d expected, got %s"):format(host.most_steps, host.describe(count)))
  end
  local rates = s.schedule and host.rates(s.schedule, s.session:facts().step_index, count)
  local figures, status, message = s.session:step(count, 0, rates, o.trace_every or 0, false, bare)
  if not figures then host.raise(status, message) end
  return host.figures_name(figures, s.graph)
end

function methods.step(session, count, options) return host.session_step(session, count, options, false) end

local function towers_check(s, placement)
  if s.towers and placement:towers() > s.towers then
    host.fail(("s:set: gpus: this model was built tower by tower for %d of them (build = \"tower\"); open a session with more")
              :format(s.towers))
  end
end

-- Setting one of batch, global_batch clears the other: say what that makes.
local function batch_tell(s, given, facts)
  if given.batch == nil and given.global_batch == nil and given.gpus == nil then return end
  host.progress(("global batch is now %d: %d GPU%s of up to %d (%s scaling)\n"):format(facts.global_batch, facts.gpus,
                facts.gpus == 1 and "" or "s", facts.batch, facts.batch_mode))
end

-- Several options as one change: one new segment, or none when nothing changes. A refused change leaves the old in force.
function methods.set(session, given)
  local s = state_of(session, "set")
  local kinds = {}
  for name in pairs(host.is_place) do kinds[name] = "any" end
  host.read("s:set", given, kinds)
  local placement = host.placement_fill("s:set", s.request.placement:copy(), given or {})
  towers_check(s, placement)
  local change, status, message = s.session:set(placement)
  if not change then host.raise(status, message) end
  s.request.placement = placement
  local facts = s.session:facts()
  change.gpus, change.batch, change.global_batch = facts.gpus, facts.batch, facts.global_batch
  batch_tell(s, given or {}, facts)
  return change
end

-- Freezes a variable ("dense/kernel"), or all of a scope ("dense"), from the next step on; false: trains it again.
function methods.freeze(session, name, frozen)
  local s = state_of(session, "freeze")
  local found = false
  if frozen == nil then frozen = true end
  for _, v in ipairs(s.graph:variables()) do
    if v.name == name or v.name:sub(1, #tostring(name) + 1) == tostring(name) .. "/" then
      s.graph:freeze(v.number, frozen)
      found = true
    end
  end
  if not found then host.fail("s:freeze: the model has no variable or scope " .. host.describe(name)) end
  local change, status, message = s.session:set(s.request.placement)
  if not change then host.raise(status, message) end
  if host.frozen then host.frozen(session, name, frozen) end
  return change
end

-- The figures of the segment in force.
function methods.figures(session)
  local s = state_of(session, "figures")
  return host.figures_name(s.session:figures(), s.graph)
end

-- { asked =, effective = }: options by name; one without a meaning under the strategy is not in effective.
function methods.placement(session)
  local asked, effective = state_of(session, "placement").session:placement()
  return { asked = asked, effective = effective }
end

local facts_names = { backend = true, remark = true, gave_way = true, batch_mode = true, step_index = true, epoch = true,
                      oversubscribed = true, towers = true }

-- s.gpus and every other placement option: what is in effect, or what was asked where nothing is.
function session_type.__index(session, name)
  if methods[name] then return methods[name] end
  local s = states[session]
  if host.is_place[name] then
    local asked, effective = s.session:placement()
    if effective[name] ~= nil then return effective[name] end
    return asked[name]
  end
  if facts_names[name] then return s.session:facts()[name] end
  if name == "model" then return s.model end
  local known = { model = true }
  for _, names in ipairs{ methods, host.is_place, facts_names } do
    for key in pairs(names) do known[key] = true end
  end
  host.fail(("a session has no '%s'%s"):format(tostring(name), host.hint(tostring(name), known)))
end

function session_type.__newindex(session, name, value)
  if value == nil and host.is_place[name] then value = "nil" end
  methods.set(session, { [name] = value })
end

function session_type.__close(session, err) states[session].session:close(err) end

function session_type.__tostring(session)
  local s = states[session]
  if not s.session:is_open() then return ("session of %s, closed"):format(s.model) end
  local facts = s.session:facts()
  return ("session of %s on %d %s, step %d"):format(s.model, facts.gpus,
    facts.backend == "host" and "CPU devices" or "GPUs", facts.step_index)
end

-- What mgb.session opens, and the session of it.
function host.session_prepare(options)
  return host.prepare("mgb.session", host.options_check("mgb.session", options), options or {}, 3)
end

function host.session_open(s)
  local ok, status, message = host.open_prepared(s)
  if not ok then host.raise(status, message) end
  local session = setmetatable({}, session_type)
  states[session] = s
  return session
end

-- What a session was opened with; nil for everything else.
function host.session_state(r) return states[r] end

function mgb.session(options) return host.session_open(host.session_prepare(options)) end
