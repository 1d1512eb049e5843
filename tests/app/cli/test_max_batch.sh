# The largest batch that fits: mgb.max_batch and mgbench plan agree, a run of that batch goes through and one of one example
# more does not.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db
cat >largest.lua <<'LUA'
local common = { model = "mlp", backend = "host", threads = 1, steps = 1, warmup = 0, expect = "oom" }
local function with(more)
  local o = {}
  for _, from in ipairs{ common, more } do for key, value in pairs(from) do o[key] = value end end
  return o
end
for _, gpus in ipairs{ 1, 2 } do
  local batch = mgb.max_batch(with{ gpus = gpus, gpu_memory = "8MiB", batch = 3 })
  local plans = { mgb.plan(with{ gpus = gpus, gpu_memory = "8MiB", batch = batch }), mgb.plan(with{ gpus = gpus, gpu_memory = "8MiB", batch = batch + 1 }) }
  assert(plans[1].fits and not plans[1].message and not plans[2].fits and plans[2].message:find("/gpu:0", 1, true))
  assert(plans[1].gpu_bytes <= 8 * 2 ^ 20 and plans[2].gpu_bytes > 8 * 2 ^ 20 and plans[2].fullest_gpu == "/gpu:0")
  print(gpus, batch, mgb.run(with{ gpus = gpus, gpu_memory = "8MiB", batch = batch }).outcome,
        mgb.run(with{ gpus = gpus, gpu_memory = "8MiB", batch = batch + 1 }).outcome)
end
print("none", mgb.max_batch(with{ gpu_memory = "64KiB" }))
LUA
command_line='mgb.max_batch'
mgbench -e largest.lua >out 2>err || { same 'exit code' 0 $?; cat err; }
for gpus in 1 2; do
    planned=$(mgbench plan mlp --backend host --threads 1 --gpus $gpus --gpu-memory 8MiB --csv | tr -d '\r' | sed -n 's/^largest batch,.*,//p')
    same "$gpus GPUs" "$gpus $planned ok oom" "$(awk -v gpus=$gpus '$1 == gpus { print $1, $2, $3, $4 }' out)"
done
same 'nothing fits' 'none 0' "$(awk '/^none/ { print $1, $2 }' out)"

command_line='without a limit'
mgbench -e 'mgb.max_batch{ model = "mlp", backend = "host" }' >out 2>err
same 'exit code' 1 $?
same 'what is missing' 1 "$(grep -c 'no device in use has a memory limit to fit a batch in: give one with gpu_memory' err)"
mgbench plan mlp --backend host --largest >out 2>err || same 'exit code' 0 $?
same 'asked' 1 "$(grep -c 'give one with gpu_memory' err)"
mgbench plan mlp --backend host >out 2>err || same 'exit code' 0 $?
same 'not asked' 0 "$(grep -c . err)"
same 'an option that is none' 1 "$(mgbench -e 'mgb.max_batch{ modl = "mlp" }' 2>&1 | grep -c 'did you mean')"
finish
