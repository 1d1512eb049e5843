# An allocation that fails on device 1 in the middle of a step (ancestors.md 5.7 row 70).
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
cd "$work" || exit 1
cat >fault.lua <<'LUA'
local s <close> = mgb.session{ model = "digits_cnn", data = mgb.data.digits{}, gpus = 2, batch = 16, backend = "host" }
local steps, digest, message = 0, s:digest(), nil
for _ = 1, 50 do
  local ok, why = pcall(s.step, s, 1)
  if not ok then message = why break end
  steps, digest = steps + 1, s:digest()
end
assert(message, "no step failed")
assert(steps > 0, "the fault came before the first step was done")
assert(message:find("/gpu:1", 1, true), "the error does not name the device: " .. message)
assert(message:find("[KMG]iB") or message:find("bytes"), "the error does not name the bytes: " .. message)
assert(s:digest() == digest, "the failed step changed the weights")
assert(s.step_index == steps, "the failed step was counted")
s.batch = 4
s:step(3)
assert(s.step_index == steps + 3 and s:digest() ~= digest, "a smaller batch does not work")
print("row 70   an allocation that fails on device 1: named, nothing changed, a smaller batch works")
LUA
MGBENCH_FAULT=oom:/gpu:1:launch=100 timeout 60 "$MGBENCH" -e fault.lua --db x.db || fail 70 "see above"
