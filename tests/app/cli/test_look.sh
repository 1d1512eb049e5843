# devices, info and query: what they print and their exit codes.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"

# Devices of the host backend: /cpu:0 and as many that play GPUs as are wished for.
export MGBENCH_CPU_DEVICES=2
command_line='mgbench devices'
same 'devices' '/cpu:0 /gpu:0 /gpu:1' \
    "$(mgbench devices --backend host --csv | sed -n '2,$s/,.*//p' | tr -d '\r' | tr '\n' ' ' | sed 's/ $//')"
same 'a row' '{"device":"/gpu:1","kind":"cpu","backend":"host","memory_bytes":null' \
    "$(mgbench devices --backend host --json | sed -n '3s/,"label.*//p')"
expect 2 '' "mgbench: MGBENCH_CPU_DEVICES is '17'; give a number from 1 to 16" \
    env MGBENCH_CPU_DEVICES=17 "$MGBENCH" devices --backend host
expect 4 '' "mgbench: there is no backend 'hst'; the backends are host and cuda" mgbench devices --backend hst
command_line='mgbench devices --backend auto'
if ! mgbench devices --backend cuda >/dev/null 2>&1; then
    same 'why' 'mgbench: CPU devices, because ' "$(mgbench devices 2>&1 >/dev/null | cut -c 1-30)"
    same 'quiet' '' "$(mgbench devices --quiet 2>&1 >/dev/null)"
fi

# Paths and versions; an empty variable counts as unset.
command_line='mgbench info'
for what in version sqlite lua 'backend host' database configuration data state 'shipped scripts'; do
    same "info: $what" 1 "$(mgbench info --csv | grep -c "^$what,.")"
done
same 'MGBENCH_DB empty' "database,$work/data/mgbench/results.db" \
    "$(MGBENCH_DB= "$MGBENCH" info --csv | grep '^database' | tr -d '\r')"

# Questions.
expect 4 '' "mgbench: none.db is not there: nothing has been recorded in it" mgbench query 'select 1' --db none.db
expect 2 '' "mgbench: query: a word is missing; usage: mgbench query SQL" mgbench query
cat >one.lua <<'LUA'
local m = nn.model("one", function(m)
  local x, y = m:input("x", { 3 }), m:input("y", {}, "i32")
  m:loss(nn.softmax_cross_entropy(nn.dense{ units = 4 }(x), y))
end)
mgb.run{ model = m, gpus = 1, batch = 2, steps = 3, warmup = 0 }
LUA
expect 0 '' '' mgbench --quiet --backend host -e one.lua --db r.db
expect 0 'steps  outcome
    3  ok' '' mgbench query 'select steps, outcome from run_summary' --db r.db
expect 0 '{"a":1,"b":0.5,"c":"x","d":null}' '' mgbench query "select 1 a, 0.5 b, 'x' c, null d" --db r.db --json
expect 0 '{"a":0.1}' '' env LC_ALL=de_DE.UTF-8 "$MGBENCH" query "select 0.1 a" --db r.db --json
command_line='a statement that would change something'
mgbench query 'delete from run' --db r.db 2>"$work/err"
same 'exit code' 2 $?
same 'rows' 1 "$(mgbench query 'select count(*) n from run' --db r.db --csv | sed -n 2p | tr -d '\r')"
command_line='not a database'
echo 'this is no database at all, only a line of text' >text.db
mgbench query 'select 1' --db text.db 2>"$work/err"
same 'exit code' 1 $?
same 'as it was' 'this is no database at all, only a line of text' "$(cat text.db)"

# The reader of a pipe may stop early.
command_line='mgbench query | head'
same 'output' 'n' "$(mgbench query 'with recursive c(n) as (select 1 union all select n + 1 from c limit 200000)
    select n from c' --db r.db --csv 2>"$work/err" | head -n 1 | tr -d '\r')"
same 'standard error' '' "$(cat "$work/err")"

finish
