# recompute = "block": the networks that come with mgbench train the same to the last bit with less memory, alone and on two
# GPUs; it is stored with the run.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db
cat >same.lua <<'LUA'
local function held(o)
  o.gpus = 1
  return mgb.plan(o).gpu_bytes
end
for _, name in ipairs{ "resnet", "gpt2", "vit_b16", "snli_bilstm" } do
  local function options(more)
    local o = { model = mgb.model(name, { small = true, depth = name == "resnet" and 18 or nil }), gpus = 2, batch = 6, backend = "host", threads = 1 }
    for key, value in pairs(more) do o[key] = value end
    return o
  end
  local v = mgb.verify(options{ a = { recompute = "none" }, b = { recompute = "block" }, steps = 2 })
  local before, after = held(options{ recompute = "none" }), held(options{ recompute = "block" })
  print(name, v.bitwise, after < before and "less" or after == before and "same" or "more")
end
LUA
command_line='small networks'
mgbench --quiet -e same.lua >out 2>err || { same 'exit code' 0 $?; cat err; }
same 'to the last bit' 4 "$(grep -c 'true' out)"
same 'with less' 4 "$(grep -c 'less' out)"
mgbench run mlp --backend host --steps 2 --warmup 0 --recompute block >out 2>err || same 'exit code' 0 $?
same 'stored' 'block|block' "$(ask 'select asked_recompute || "|" || recompute from segment order by id desc limit 1')"
finish
