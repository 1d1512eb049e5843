# A script that dies after steps: its runs end as errors with its message, however they were left; what ended before did not.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db

cat >dies.lua <<LUA
local function open() return mgb.session{ model = $small, gpus = 2, batch = 4, warmup = 0, backend = "host" } end
do local first <close> = open() first:step(1) end
if arg[1] == "close" then
  local s <close> = open()
  s:step(2)
  error("x")
end
local s = open()
s:step(2)
error("x")
LUA
for how in close open; do
    command_line="a script that dies with its session left $how"
    start --quiet -e dies.lua -- $how
    finished
    same 'exit code' 1 "$code"
    same 'outcomes' 'ok error' "$(ask "select group_concat(outcome, ' ') from (select outcome from (select id, outcome from run
        order by id desc limit 2) order by id)")"
    same 'message' 1 "$(ask "select message like '%x' from run order by id desc")"
    same 'outcome of the segment' error "$(ask 'select outcome from segment order by id desc')"
    same 'steps are there' 2 "$(ask 'select count(*) from step where segment_id = (select max(id) from segment)')"
done

command_line='an error that the script caught outside its session'
start --quiet -e "local s <close> = mgb.session{ model = $small, gpus = 1, batch = 4, warmup = 0, backend = 'host' }
    s:step(1) print(pcall(error, 'caught'))"
finished
same 'exit code' 0 "$code"
same 'outcome' ok "$(ask 'select outcome from run order by id desc')"

command_line='warnings are for people who want them'
loud="mgb.run{ model = $small, gpus = 3, global_batch = 2, steps = 2, warmup = 0, backend = 'host' }"
start -e "$loud"
finished
same 'told' 1 "$(grep -c '^mgbench: warning: /gpu:2 computed nothing' "$work/err")"
start --quiet -e "$loud"
finished
same 'not told' '' "$(cat "$work/err")"
same 'kept' 2 "$(ask "select count(*) from note where text like '/gpu:2 computed nothing%'")"

finish
