# mgbench sweep: on paper, run, resumed, begun anew. (reference/ecosystem.md, rows 4, 9, 37, 53 and 58 of section 2.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db

# A file that gives back a table. On paper nothing is stored, and nothing is known of the time.
cat >grid.lua <<LUA
return { name = "grid", model = $small, batch = 4, steps = 12, warmup = 1, repeats = 3, backend = "host",
         grid = { gpus = { 1, 2 }, cpu_merge = { true, false } },
         skip = function(p) return p.gpus == 1 and not p.cpu_merge end }
LUA
command_line='a dry run'
start sweep grid.lua --dry-run
finished
same 'exit code' 0 "$code"
same 'cells' '0 1 yes 3 /gpu:0 yes unknown 1 2 yes 3 /gpu:0 yes unknown 2 2 no 3 /gpu:0 yes unknown ' \
    "$(sed -n '2,4p' "$work/out" | awk '{ printf "%s %s %s %s %s %s %s ", $1, $2, $3, $4, $5, $8, $9 }')"
same 'sums' 'grid: 9 cells (3 points, 3 repetitions each), 0 done before, 9 to run, time unknown: no such cell was run before' \
    "$(sed -n 6p "$work/out")"
same 'nothing told' '' "$(cat "$work/err")"
same 'nothing stored' 'no' "$([ -e r.db ] && echo yes || echo no)"

# Run: interleaved, each repetition in an order of its own, a line a cell where no terminal is, verdicts in the table.
command_line='a sweep'
start sweep grid.lua
finished
same 'exit code' 0 "$code"
same 'columns' 'gpus cpu_merge step_ms step_ms_low step_ms_high repetitions examples_per_s speedup speedup_low speedup_high efficiency verdict outcome' \
    "$(sed -n 1p "$work/out" | xargs)"
same 'a line a point' '1 yes 3 - ok 2 yes 3 ok 2 no 3 ok ' "$(sed -n '2,4p' "$work/out" |
    awk '{ printf "%s %s %s %s%s ", $1, $2, $6, NR == 1 ? $12 " " : "", $13 }')"
same 'a line a cell' 9 "$(grep -Ec '^mgbench: sweep grid, cell [1-9] of 9: gpus=[12] cpu_merge=(yes|no): ok, [0-9.e-]+ ms a step; [0-9]+ s elapsed, [0-9]+ s left$' "$work/err")"
same 'counted' 'mgbench: 9 cells: 9 ok, 0 out of memory, 0 failed; 0 of them done before' "$(tail -n 1 "$work/err")"
same 'interleaved' '0/1/2 0/1/2 0/1/2' "$(ask "select group_concat(points, ' ') from (select (select group_concat(point, '/') from
    (select point from sweep_point where repeat = r.repeat order by point)) points from (select distinct repeat from sweep_point
    order by repeat) r)")"
same 'positions follow repetitions' 9 "$(ask "select count(*) from sweep_point where repeat = position / 3")"
same 'seed' 1 "$(ask 'select order_seed from sweep')"
same 'command that repeats it' "mgbench sweep grid.lua" "$(ask "select command from run where id = 1")"

# Again: nothing is left to do, and the answer is the same; on paper too.
cp "$work/out" first
expect 0 "$(cat first)" '' mgbench --quiet sweep grid.lua
same 'no run more' 9 "$(ask 'select count(*) from run')"
command_line='on paper, after it'
start sweep grid.lua --dry-run
finished
same 'sums' 'grid: 9 cells (3 points, 3 repetitions each), 9 done before, 0 to run, no time' "$(sed -n 6p "$work/out")"

# All anew; with the same seed in the same order, with another in another, or as the grid has it.
order_of() { ask "select group_concat(point || '.' || repeat, ' ') from (select point, repeat from sweep_point
    where sweep_id = (select max(id) from sweep) order by position)"; }
first_order=$(order_of)
mgbench --quiet sweep grid.lua --fresh >/dev/null
command_line='order'
same 'same seed' "$first_order" "$(order_of)"
same 'run anew' 18 "$(ask 'select count(*) from run')"
seeds=$(for seed in 2 3 4; do
    sed "s/repeats = 3/repeats = 3, order_seed = $seed/; s/steps = 12/steps = 2/" grid.lua >seeded.lua
    mgbench --quiet sweep seeded.lua --fresh --db seeds.db >/dev/null
    ask "select group_concat(point) from (select point from sweep_point where sweep_id = (select max(id) from sweep)
        order by position)" seeds.db
done | sort -u | grep -c .)
same 'other seeds, other orders' 1 "$([ "$seeds" -gt 1 ] && echo 1)"
sed 's/repeats = 3/repeats = 2, order = "grid"/; s/steps = 12/steps = 2/' grid.lua >ordered.lua
mgbench --quiet sweep ordered.lua --fresh >/dev/null
same 'grid order' '0.0 1.0 2.0 0.1 1.1 2.1' "$(order_of)"
same 'no seed' '' "$(ask 'select order_seed from sweep order by id desc')"

# A grid that grew is defined anew, and has the cells that were done before too, entered once: nothing is entered by going on
# with it, nor on paper, nor where the file cannot be written.
cat >grown.lua <<LUA
return { name = "g", model = $small, batch = 4, steps = 12, warmup = 1, repeats = 1, backend = "host", grid = { gpus = { 1, 2 } } }
LUA
sed 's/1, 2 }/1, 2, 3 }/' grown.lua >grown3.lua
sed 's/repeats = 1/repeats = 2/' grown3.lua >repeated.lua
sed 's/1, 2 }/3, 1 }/' grown.lua >fewer.lua
entered() { ask "select count(distinct run_id) || ' runs, ' || count(*) || ' points, ' || count(distinct sweep_id) || ' sweeps'
    from sweep_point" g.db | tr -d '"'; }
command_line='a grid that grows'
for step in 'grown|2 runs, 2 points, 1 sweeps' 'grown3 --dry-run|2 runs, 2 points, 1 sweeps' 'grown3|3 runs, 5 points, 2 sweeps' \
    'grown3|3 runs, 5 points, 2 sweeps' 'grown|3 runs, 5 points, 2 sweeps'; do
    words=${step%%|*}
    # shellcheck disable=SC2086
    mgbench --quiet sweep "${words%% *}.lua" ${words#"${words%% *}"} --db g.db >"$work/out" 2>"$work/err"
    same "exit code of $words" 0 $?
    same "entered after $words" "${step#*|}" "$(entered)"
done
same 'a point of before' 1 "$(mgbench show sweep:g/0 --db g.db | grep -c '^ *point of  *sweep:g/0, repetition 0$')"
same 'its run' "$(ask "select run_id from sweep_point where sweep_id = 1 and point = 0" g.db)" \
    "$(ask "select run_id from sweep_point where sweep_id = 2 and point = 0" g.db)"
same 'all are compared' '1 2 3' "$(mgbench compare sweep:g --db g.db | grep -o 'gpus=[123]' | cut -d= -f2 | sort -u | xargs)"
same 'all ended' 2 "$(ask 'select count(finished_ms) from sweep' g.db)"
command_line='repetitions that grow'
for step in 'one more each' 'gone on with'; do
    mgbench --quiet sweep repeated.lua --db g.db >"$work/out" 2>"$work/err"
    same "exit code, $step" 0 $?
    same "points, $step" '0.0 0.1 1.0 1.1 2.0 2.1' "$(ask "select group_concat(point || '.' || repeat, ' ') from (select point, repeat
        from sweep_point where sweep_id > 1 order by 1, 2)" g.db)"
done
command_line='a grid of cells that were all done'
mgbench --quiet seal g.db >/dev/null
cp g.db lent.db
chmod 0755 "$work" "$work/here"
chmod 0444 lent.db
as_reader() { # root may always write, and becomes another one
    if [ "$(id -u)" -eq 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$MGBENCH" "$@"; else mgbench "$@"; fi
}
if as_reader query 'select 1' --db lent.db >"$work/out" 2>&1; then
    as_reader --quiet sweep fewer.lua --db lent.db >"$work/out" 2>"$work/err"
    same 'exit code, read only' 0 $?
    same 'nothing told' '' "$(cat "$work/err")"
    same 'both in the table' '3 1' "$(sed -n '2,3s/^ *\([0-9]\) .*/\1/p' "$work/out" | xargs)"
    same 'not entered' "$(ask 'select max(sweep_id) from sweep_point' g.db)" "$(ask 'select max(sweep_id) from sweep_point' lent.db)"
fi
mgbench --quiet sweep fewer.lua --db g.db >"$work/out" 2>"$work/err"
same 'exit code' 0 $?
same 'no run' 6 "$(ask 'select count(*) from run' g.db)"
same 'entered' '0 3/1 1' "$(ask "select group_concat(p, '/') from (select point || ' ' || gpus as p from sweep_point as p join segment as s
    on s.run_id = p.run_id where sweep_id = (select max(id) from sweep) order by 1)" g.db)"

# What is no sweep, and what a dry run is for.
echo 'local x = 1' >none.lua
expect 2 '' "mgbench: 'none.lua' is no sweep: it calls no mgb.sweep and gives back no table { name =, model =, grid = }; a script is run by mgbench -e" \
    mgbench sweep none.lua
expect 2 '' "mgbench: a dry run is for sweeps: mgbench sweep none.lua --dry-run" mgbench -e none.lua --dry-run
expect 2 '' "mgbench: this is a sweep and runs nothing by itself: mgbench sweep FILE runs it (mgbench -e grid.lua --help lists its options)" \
    mgbench -e grid.lua
expect 2 '' "mgbench: --dry-run and --fresh exclude each other: a dry run tells which cells were done before" \
    mgbench sweep grid.lua --dry-run --fresh

# A mistake in the file is one of the script; nothing is run or stored.
while IFS='|' read -r options message; do
    echo "return { name = 'wrong', model = $small, backend = 'host', steps = 1, $options }" >wrong.lua
    command_line="sweep with $options"
    start sweep wrong.lua --db wrong.db
    finished
    same 'exit code' 1 "$code"
    same 'told' "mgbench: $message" "$(sed -n 1p "$work/err")"
    same 'nothing stored' 'no' "$([ -e wrong.db ] && echo yes || echo no)"
done <<'WRONG'
grid = { gpus = {} }|mgb.sweep: grid: gpus: list of values expected, got an empty list
grid = { gpu = { 1 } }|mgb.sweep: grid: unknown option 'gpu' (did you mean 'gpus'?)
grid = { gpus = { 1 } }, repeats = 0|mgb.sweep: repeats: positive integer expected, got 0
grid = { gpus = { 1 } }, name = ''|mgb.sweep: name: text expected, got an empty one (nil is for none)
grid = { gpus = { 1 } }, model = 'nope'|module 'models.nope' not found; looked for
grid = { gpus = { 1 }, optimizer = { mgb.sgd{}, print } }|mgb.sweep: grid: optimizer[2]: optimizer expected (as mgb.sgd{ lr = 0.01 }), got a function
grid = { gpus = { 1, 1 } }|mgb.sweep: grid: gpus: 1 is listed twice; use repeats = 2
WRONG
echo "mgb.run{ model = $small, steps = 1 }" >run.lua
command_line='a dry run of no sweep'
start sweep run.lua --dry-run
finished
same 'exit code' 1 "$code"
same 'told' 1 "$(grep -c 'a dry run shows what mgb.sweep would do and runs nothing; this is not part of a sweep' "$work/err")"
cat >figures.lua <<LUA
local o = mgb.options{ batch = { 4, "examples" } }
local rows = mgb.sweep{ name = "figures", model = $small, batch = o.batch, steps = 2, backend = "host", grid = { gpus = { 1, 2 } } }
mgb.table(rows, { "gpus", "step_ms" })
print("ratio", rows[1].step_ms.median / rows[2].step_ms.median)
LUA
command_line='a dry run of a script that works with figures'
start sweep figures.lua --dry-run --batch 8 --csv
finished
same 'exit code' 0 "$code"
same 'cells only' 'point,gpus,runs,fullest_gpu,gpu_bytes,cpu_bytes,fits,seconds 2' \
    "$(sed -n 1p "$work/out" | tr -d '\r') $(sed 1d "$work/out" | grep -c .)"
same 'told' 1 "$(grep -c 'what follows is not looked at' "$work/err")"

finish
