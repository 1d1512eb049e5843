-- What a script may find in the documentation and this version does not have yet.
local mgb, _, host = ...

for _, name in ipairs{ "calibrate" } do
  mgb[name] = function() host.fail(("mgb.%s: not in this version"):format(name)) end
end
