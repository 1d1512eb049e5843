# A sweep over objects - optimizers, data sets, variants of a model - shows each by its own text, tells its points apart, and
# takes them up again.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db

swept() { # file, wanted column of the table's first words
    command_line="sweep $1"
    start sweep "$1"
    finished
    same 'exit code' 0 "$code"
    same 'errors' '' "$(grep -v '^mgbench: sweep \|^mgbench: [0-9]* cells: \|^mgbench: note\|^repeat with: ' "$work/err" | head -n 3)"
    cp "$work/out" first
    same 'a row each' "$2" "$(sed -n '2,3p' first | sed 's/   *.*//' | paste -sd '|')"
    runs=$(ask 'select count(*) from run')
    expect 0 "$(cat first)" '' mgbench --quiet sweep "$1"
    same 'nothing run again' "$runs" "$(ask 'select count(*) from run')"
    start --quiet sweep "$1" --csv
    finished
    same 'rows as CSV' "0 3" "$code $(grep -c . "$work/out")"
    start sweep "$1" --dry-run
    finished
    same 'on paper' "0 1" "$code $(grep -c '2 done before, 0 to run' "$work/out")"
    for label in $(printf '%s' "$2" | tr ' |' '~ '); do
        same 'on paper, as in the table' 0 "$(grep -qF "$(echo "$label" | tr '~' ' ')" "$work/out"; echo $?)"
    done
}

cat >optimizer.lua <<'LUA'
return { name = "optimizers", model = "mlp", batch = 4, steps = 2, warmup = 1, repeats = 1, backend = "host", seed = 3,
         data = mgb.data.random{ seed = 1 }, grid = { optimizer = { mgb.sgd{ lr = 0.01 }, mgb.adam{ lr = 0.001 } } } }
LUA
swept optimizer.lua 'sgd(lr=0.01)|adam(lr=0.001)'

cat >data.lua <<'LUA'
return { name = "data", model = "mlp", batch = 4, steps = 2, warmup = 1, repeats = 1, backend = "host",
         grid = { data = { mgb.data.random{ seed = 1 }, mgb.data.random{ seed = 2 } } } }
LUA
swept data.lua 'data: random, seed 1|data: random, seed 2'

cat >model.lua <<'LUA'
local model = nn.model("small", function(m, opt)
  m:loss(nn.softmax_cross_entropy(nn.dense{ units = opt.units }(m:input("x", { 4 })), m:input("label", {}, "i32")))
end, { options = { units = 3 } })
return { name = "models", batch = 4, steps = 2, warmup = 1, repeats = 1, backend = "host",
         grid = { model = { model, model{ units = 5 } } } }
LUA
swept model.lua 'small|small{units=5}'
same 'two points' 2 "$(ask "select count(distinct p.settings) from sweep_point p join sweep s on s.id = p.sweep_id
    where s.name = 'models'")"

# In a script, with a column that was asked for, whichever row came from before.
sed 's/^return {/local rows = mgb.sweep{/; s/"models"/"more", resume = true/; $s/$/ mgb.table(rows, { "model", "outcome" }) print(rows[2].model, rows[1].resumed)/' \
    model.lua >script.lua
for again in false true; do
    command_line="a script, $again"
    start --quiet -e script.lua
    finished
    same 'exit code' 0 "$code"
    same 'table' 'model outcome|small ok|small{units=5} ok' "$(sed -n '1,3p' "$work/out" | tr -s ' ' | sed 's/ *$//' | paste -sd '|')"
    same 'row' "small{units=5} $again" "$(tail -n 1 "$work/out" | tr '\t' ' ')"
done

# A cell whose replicas differed was no training of what was asked for: it is not done.
if command -v sqlite3 >/dev/null; then
    command_line='resumed after replicas that differed'
    runs=$(ask 'select count(*) from run')
    sqlite3 r.db "UPDATE segment_stat SET replicas_agree = 0 WHERE segment_id = 1"
    start --quiet sweep optimizer.lua
    finished
    same 'exit code' 0 "$code"
    same 'one run again' $((runs + 1)) "$(ask 'select count(*) from run')"
fi
finish
