# What the tests of examples share: a folder with what the examples of the manual take for granted, small. Examples are
# run in a copy of it, those of one command after each other.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"

ready=$work/ready
mkdir "$ready"
cp "$MGB_SOURCE_DIR"/scripts/experiments/*.lua "$ready"
ln -s "$MGB_SOURCE_DIR/scripts" "$ready/scripts"
sed 's/model = "digits_cnn", data = mgb.data.digits(), batch = 16, steps = 60, repeats = 5/model = "mlp", batch = 4, steps = 5, repeats = 2/' \
    "$MGB_SOURCE_DIR/scripts/experiments/grid.lua" >"$ready/grid.lua" # smaller
grep -q '"mlp", batch = 4' "$ready/grid.lua" || { echo "grid.lua is not made smaller"; failures=1; }
export MGBENCH_DB=results.db

# Run 1 has two segments; then repetitions, two sweeps, and a run that is tagged on its own.
cat >"$work/prepare.lua" <<'LUA'
local function run(more)
  local o = { model = "mlp", batch = 4, steps = 12, warmup = 2, threads = 1, backend = "host" }
  for key, value in pairs(more) do o[key] = value end
  return mgb.run(o)
end
do
  local s <close> = mgb.session{ model = "mlp", batch = 4, gpus = 2, threads = 1, backend = "host", warmup = 2 }
  s:step(10)
  s:set{ cpu_merge = false }
  s:step(10)
end
for i = 2, 7 do run{ gpus = 2, cpu_merge = i % 2 == 0 } end
local function sweep(name, grid)
  mgb.sweep{ name = name, model = "mlp", batch = 4, steps = 12, warmup = 2, threads = 1,
             backend = "host", grid = grid }
end
sweep("placement", { gpus = { 1, 2 }, cpu_merge = { true, false } })
sweep("weak", { gpus = { 1, 2 }, strategy = { "outputs", "independent" } })
for _, batch in ipairs{ 8, 16 } do run{ batch = batch } end
run{ gpus = 2, trace_steps = "5-8" }
LUA
prepare() {
    (cd "$ready" && "$MGBENCH" --quiet -e "$work/prepare.lua" &&
     "$MGBENCH" --quiet tag 2,4,6 before && "$MGBENCH" --quiet tag 3,5,7 after &&
     "$MGBENCH" --quiet baseline set before tag:before &&
     "$MGBENCH" --quiet tag 4 warmup && "$MGBENCH" --quiet tag last paper && "$MGBENCH" --quiet seal &&
     cp results.db here.db && cp results.db there.db) >"$work/prepared" 2>&1 || {
        cat "$work/prepared"
        exit 1
    }
}

# try FOLDER CODES COMMAND: runs an example in the folder; CODES are those it may end with, comma separated.
tried=0
mkdir "$work/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$MGBENCH" >"$work/bin/mgbench"
chmod +x "$work/bin/mgbench"
try() {
    command_line=$3
    case $3 in
        *.svg* | *.png*) command -v gnuplot >/dev/null || return 0 ;;
    esac
    (cd "$1" && PATH="$work/bin:$PATH" sh -c "$3") >"$work/out" 2>"$work/err" </dev/null
    code=$?
    tried=$((tried + 1))
    case ",$2," in *,$code,*) return ;; esac
    same "exit code" "$2" "$code"
    cat "$work/err"
}

# try_examples of the commands that measure or draw (yes), or of the others (no), from the program's own table.
measuring=' -e run verify sweep selftest plot report '
try_examples() {
    "$MGBENCH" generate examples >"$work/examples"
    before=
    while IFS="$(printf '\t')" read -r codes command example; do
        case $measuring in *" $command "*) measures=yes ;; *) measures=no ;; esac
        [ "$measures" = "$1" ] || continue
        if [ "$command" != "$before" ]; then
            rm -rf "$work/folder"
            cp -a "$ready" "$work/folder"
        fi
        before=$command
        try "$work/folder" "$codes" "$example"
    done <"$work/examples"
    [ "$tried" -gt 10 ] || { echo "only $tried examples"; failures=1; }
}

# What documents say, made small: fewer steps and a model that takes less.
smaller() {
    sed 's/steps = [0-9][0-9]*/steps = 12/; s/step([0-9][0-9]*)/step(12)/; s/batch = [0-9][0-9]*/batch = 4/
         s/batch = {8, 16}/batch = {2, 4}/; s/mnist_cnn/digits_cnn/; s/data.mnist{[^}]*}/data.digits{}/
         s/--steps [0-9]*/--steps 5/; s/--batch [0-9]*/--batch 4/; s/--data mnist/--data digits/
         s/--repeats 5/--repeats 2/; s/selftest$/& --help/; s,scripts/experiments/grid.lua,grid.lua,; s/--target-noise 5%/& --max-time 1s/
         s/placement.lua/& --model digits_cnn --data digits/'
}
