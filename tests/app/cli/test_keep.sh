# merge, rm, vacuum, seal, doctor and info on the command line: what they say, their exit codes, what is in use is refused.
# (reference/ecosystem.md, row 59 of section 2.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"

cat >one.lua <<'LUA'
local m = nn.model("one", function(m)
  local x, y = m:input("x", { 3 }), m:input("y", {}, "i32")
  m:loss(nn.softmax_cross_entropy(nn.dense{ units = 4 }(x), y))
end)
mgb.run{ model = m, gpus = 1, batch = 2, steps = 3, warmup = 1 }
mgb.run{ model = m, gpus = 1, batch = 4, steps = 3, warmup = 1 }
LUA
for file in a b; do
    expect 0 '' '' mgbench --quiet --backend host -e one.lua --db $file.db
done

expect 0 'b.db: 2 runs, 2 segments, 8 steps' '' mgbench merge a.db b.db
expect 0 'b.db: 0 runs, 0 segments, 0 steps, 2 runs known already' '' mgbench merge a.db b.db
expect 0 'a.db: 4 runs, 4 segments, 16 steps, 1 machines
b.db: 0 runs, 0 segments, 0 steps, 2 runs known already' '' mgbench merge --into c.db a.db b.db
same 'rows' 4 "$(ask 'select count(*) from run' c.db)"
expect 2 '' 'mgbench: merge: one file alone; name the one to merge into first, or --into FILE' mgbench merge a.db
expect 4 '' 'mgbench: none.db is not there' mgbench merge a.db none.db
expect 2 '' 'mgbench: a.db and a.db are the same file' mgbench merge a.db a.db
same 'JSON' '{"from":"b.db","runs":0,"segments":0,"steps":0,"known_runs":2' \
    "$(mgbench merge a.db b.db --json | cut -c 1-61)"

expect 2 '' 'mgbench: rm: deleting 1 run with 4 steps takes --yes where nobody can be asked' mgbench rm 1 --db c.db --quiet
expect 0 'deleted 2 runs, 2 segments, 8 steps' '' mgbench rm 1 3,1 --yes --quiet --db c.db
command_line='mgbench rm last --yes'
same 'names what goes' '  run 4: one on ' "$(mgbench rm last --yes --db c.db 2>&1 >/dev/null | cut -c 1-16)"
same 'rows' 2 "$(ask 'select max(id) from run' c.db)"
mgbench rm 99 --yes --db c.db >/dev/null 2>&1
same 'no such run' 4 $?
expect 4 '' 'mgbench: none.db is not there: nothing has been recorded in it' mgbench rm 1 --yes --db none.db

command_line='mgbench vacuum'
same 'vacuum' 'c.db: ' "$(mgbench vacuum --db c.db | cut -c 1-6)"
same 'before is after and more' 1 "$(mgbench vacuum --db c.db --csv | tr -d '\r' | awk -F, 'NR == 2 { print($2 >= $3 && $3 > 0) }')"
expect 4 '' 'mgbench: none.db is not there: nothing has been recorded in it' mgbench vacuum --db none.db

# Sealed it is one file, which can be read in a folder that nobody may write to, and which a run makes a living one again.
expect 0 '' '' mgbench seal c.db --quiet
same 'one file' 'c.db' "$(ls c.db*)"
mkdir sealed
cp c.db sealed/
chmod 0444 sealed/c.db
chmod 0555 sealed
same 'read' 1 "$(ask 'select count(*) from run' sealed/c.db)"
same 'nothing was made' 'c.db' "$(ls sealed)"
chmod 0755 sealed
expect 0 '' '' mgbench seal a.db --out copy.db --quiet
expect 2 '' 'mgbench: copy.db is there already: remove it or name another' mgbench seal a.db --out copy.db
same 'the copy' 4 "$(ask 'select count(*) from run' copy.db)"
expect 4 '' 'mgbench: none.db is not there: nothing has been recorded in it' mgbench seal none.db
expect 0 '' '' mgbench --quiet --backend host -e one.lua --db c.db
same 'rows' 3 "$(ask 'select count(*) from run' c.db)"

# While a run is going nothing of this is done, and looking on is.
start --quiet --backend host --db a.db -e "$(cat one.lua) print('begun') io.stdout:flush()
    mgb.run{ model = '$(printf mlp)', gpus = 1, batch = 2, steps = 1000000, warmup = 1 }"
running() {
    [ "$(ask "select count(*) from run where outcome = 'running' and id = 7" a.db)" = 1 ]
}
if until_true 60 running; then
    for words in 'rm 1 --yes --quiet --db a.db' 'vacuum --db a.db' 'seal a.db' 'merge a.db b.db'; do
        command_line="mgbench $words"
        # shellcheck disable=SC2086
        mgbench $words >"$work/words" 2>&1
        same 'exit code' 1 $?
        same 'says who' 'mgbench: a.db is in use by pid ' "$(head -n 1 "$work/words" | cut -c 1-31)"
    done
    command_line='mgbench rm of a run that is going'
    same 'message' 'mgbench: run 7 is still going: stop it first' "$(mgbench rm last --yes --quiet --db a.db 2>&1 >/dev/null)"
    command_line='mgbench doctor while a run is going'
    same 'writer' 'run 7 is being written' "$(mgbench doctor --db a.db --csv | grep ',writer,' | cut -d, -f3 | cut -c 1-22)"
    expect 0 '' '' mgbench export --db a.db --out going.csv
else
    same 'a run is going' yes "no: $(cat "$work/err")"
fi
kill -INT "$pid"
finished
command_line='mgbench doctor'
same 'stopped' 130 "$code"

mgbench doctor --db a.db --thorough >"$work/words" 2>"$work/err"
same 'exit code' 0 $?
same 'content' 1 "$(grep -c '^ok    content          integrity_check finds no fault' "$work/words")"
same 'last line' 1 "$(tail -n 1 "$work/words" | grep -c ' fine, [0-9]* to know, 0 to mend first')"
expect 4 '' 'mgbench: none.db is not there' sh -c '"$0" doctor --db none.db --csv 2>&1 >/dev/null | cat >&2; "$0" doctor --db none.db >/dev/null 2>&1' "$MGBENCH"
mgbench doctor >/dev/null 2>"$work/err"
same 'no database yet' 0 $?
echo 'this is no database at all, only a line of text, and it is long enough' >text.db
mgbench doctor --db text.db >"$work/words" 2>"$work/err"
same 'not a database' 1 $?
same 'as it was' 'this is no database' "$(cut -c 1-19 text.db)"
same 'the columns' 'level,what,finding,mend' "$(mgbench doctor --db a.db --csv | head -n 1 | tr -d '\r')"

command_line='mgbench info'
for what in 'write-ahead log' 'lock file' 'backend cuda' libc system program gnuplot; do
    same "info: $what" 1 "$(mgbench info --db a.db --csv | grep -c "^$what,.")"
done
same 'nothing was made' '' "$(mgbench info --db new.db >/dev/null; ls new.db* 2>/dev/null)"

# What is no results file is told as what it is and left alone, by whoever looks or writes.
: >empty.db
mkdir folder.db
mkfifo pipe.db
for words in 'show 1' runs 'query select' export vacuum seal 'rm last --yes' 'tag 1 x' 'note 1 x' 'baseline list' \
    'compare 1 2' 'plot placement' 'report made' 'trace 1 --out made' 'explain 1'; do
    for file in empty.db folder.db pipe.db; do
        command_line="mgbench $words --db $file"
        # shellcheck disable=SC2086
        timeout 60 "$MGBENCH" $words --db $file >"$work/out" 2>"$work/err" </dev/null
        same 'exit code' 4 $?
        same 'message' 1 "$(grep -cE '^mgbench: .*(empty.db is empty|folder.db is a directory|pipe.db is a pipe)' "$work/err")"
    done
done
for file in folder.db pipe.db; do
    command_line="$file"
    timeout 60 "$MGBENCH" run mlp --steps 1 --db $file >"$work/out" 2>"$work/err"
    same 'a run' 4 $?
    same 'nothing ran' '' "$(cat "$work/out")"
    timeout 60 "$MGBENCH" doctor --db $file >"$work/out" 2>"$work/err"
    same 'doctor' 4 $?
    same 'no file' "mgbench: $file is no file" "$(cat "$work/err")"
    timeout 60 "$MGBENCH" merge a.db $file >"$work/out" 2>"$work/err"
    same 'merged from' 4 $?
    timeout 60 "$MGBENCH" merge --into $file a.db >"$work/out" 2>"$work/err"
    same 'merged into' 4 $?
done
same 'nothing was made' 'empty.db folder.db pipe.db ' "$(echo empty.db* folder.db* pipe.db* | tr '\n' ' ')"
same 'as it was' 0 "$(wc -c <empty.db | tr -d ' ')"

# What failed leaves nothing that it made. A limit of the size of files stands for a full disk.
command_line='nothing is left'
mgbench seal a.db --out sealed.db --quiet
(ulimit -f 64; timeout 60 "$MGBENCH" merge --into merged.db sealed.db >"$work/out" 2>"$work/err")
same 'merge' 1 $?
mgbench merge --into merged.db sealed.db text.db >"$work/out" 2>"$work/err"
same 'merge of no database' 1 $?
same 'merge, files' '' "$(ls merged.db* 2>/dev/null)"
mkdir there
(ulimit -f 1; timeout 60 "$MGBENCH" report there/made/page --db sealed.db >"$work/out" 2>"$work/err")
same 'report' 1 $?
same 'report, message' 1 "$(tail -n 1 "$work/err" | grep -c '^mgbench: report: ')"
same 'report, folders' there "$(find there)"

finish
