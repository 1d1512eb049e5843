# plot and report on what a small sweep left, mgb.plot on rows, with and without gnuplot, and wrong words.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export LC_ALL=C MGBENCH MGBENCH_CPU_DEVICES=2 MGBENCH_DB="$work/here/r.db"

has() { # what, file, words: the file holds them
    command_line="$1"
    grep -qF -- "$3" "$2" || same "words of $2" "$3" "$(head -c 2000 "$2")"
}
hasnt() {
    command_line="$1"
    grep -qF -- "$3" "$2" && same "words of $2" "not: $3" "$(grep -F -- "$3" "$2" | head -c 500)"
}
plot() { # CODE words...
    wanted=$1
    shift
    command_line="mgbench plot $*"
    mgbench plot "$@" >out 2>err
    same 'exit code' "$wanted" "$?"
}

# Nothing is there yet.
expect 4 '' "mgbench: plot placement: r.db is not there: nothing has been recorded in it" \
    mgbench plot placement --db r.db

# Wrong words.
expect 2 '' "mgbench: plot: placement, scaling, memory, phases or batch expected, got 'placment' (did you mean 'placement'?)" \
    mgbench plot placment
expect 2 '' "mgbench: plot: --size is for --file" mgbench plot placement --size 900x500
expect 2 '' "mgbench: plot: a picture's file must end in .svg or .png, got 'a.pdf'" mgbench plot placement --file a.pdf
expect 2 '' "mgbench: plot: size: pixels expected as 900x500, each 200 to 10000, got '9x9'" \
    mgbench plot placement --file a.svg --size 9x9
expect 2 '' "mgbench: plot: it makes pictures, --json and --csv are for tables; the figures: mgbench export" \
    mgbench plot placement --csv

# The smallest of everything: four placements and two batches of two GPUs, one that does not fit.
cat >sweep.lua <<'LUA'
local model = nn.model("least", function(m)
  local x, y = m:input("x", { 64 }), m:input("y", {}, "i32")
  m:loss(nn.softmax_cross_entropy(nn.dense{ units = 8 }(x), y))
end)
local function sweep(grid, more)
  local o = { name = more.name, model = model, steps = 8, warmup = 1, grid = grid }
  for key, value in pairs(more) do o[key] = value end
  return mgb.sweep(o)
end
local rows = sweep({ cpu_merge = { true, false }, cpu_relocation = { false, true } }, { name = "places", gpus = 2, batch = 8 })
sweep({ gpus = { 1, 2 } }, { name = "counts", batch = 8 })
sweep({ global_batch = { 16, 64, 1048576 } }, { name = "edge", gpus = 2, gpu_memory = "4MiB" })
mgb.plot(rows, { x = "cpu_merge", y = "step_ms", by = "cpu_relocation" })
LUA
command_line='mgbench -e sweep.lua'
mgbench --quiet --backend host -e sweep.lua >out 2>err
same 'exit code' 0 "$?"
has 'mgb.plot' out 'Step time by cpu_merge: least, CPU devices (backend host)'
has 'mgb.plot' out 'cpu_merge yes'
has 'mgb.plot' out '  cpu_relocation no  '

plot 0 placement sweep:places
has placement out 'Step time by placement: least on '
has placement out 'Lower is better.'
has placement out '8 timed steps.'
has placement out 'weights /cpu:0, merge /gpu:0 '
plot 0 scaling sweep:counts
has scaling out 'Weak scaling, batch per GPU 8. '
has scaling out 'Efficiency, weak'
plot 0 batch sweep:edge
has batch out '| 1048576: out of memory: 2 GPUs'
plot 0 memory sweep:places/0
has memory out '/gpu:1 measured ='
plot 0 phases sweep:places
has phases out ' computes '
plot 4 scaling sweep:places
has missing err 'mgbench -e scaling.lua --model least --gpus 1,2,4'
plot 4 placement sweep:none

# Without gnuplot: text as ever, no file, a report with characters.
plain="$PATH" PATH=/nowhere
"$MGBENCH" plot placement least >out 2>err
code=$?
"$MGBENCH" plot placement least --file a.svg >/dev/null 2>err
refused=$?
"$MGBENCH" report plain sweep:places >/dev/null 2>&1
reported=$?
PATH=$plain
command_line='mgbench plot without gnuplot'
same 'text' 0 "$code"
same 'file' 4 "$refused"
same 'report' 0 "$reported"
has 'without gnuplot' err 'no gnuplot on PATH'
same 'no file is left' '' "$(ls a.svg* 2>/dev/null)"
has 'report without gnuplot' plain/index.html '<pre>Step time by placement: least on '
hasnt 'report without gnuplot' plain/index.html '<svg'

# A model's own words in a page: nothing of them is taken for HTML.
expect 0 'a/b/index.html' '' mgbench report a/b sweep:places --title '<script>1 & "2"</script>'
has report a/b/index.html '<h1>&lt;script&gt;1 &amp; &quot;2&quot;&lt;/script&gt;</h1>'
hasnt report a/b/index.html '<script'
for words in '<h2>Summary</h2>' '3 comparisons' '<h2>Pictures</h2>' '<h2>Measurements</h2>' '<h2>Environment</h2>' \
    'mgbench --quiet --backend host -e sweep.lua' '<dt>weak scaling</dt>' 'r.db</code>' '</html>'; do
    has report a/b/index.html "$words"
done
command_line='mgbench report'
same 'only the page' 'index.html' "$(ls a/b)"
same 'nothing from elsewhere' '' "$(grep -oE '(src|href)="?https?:[^ >]*|@import|<link|<img' a/b/index.html | grep -v w3.org)"
expect 2 '' "mgbench: report: the first word is the folder of the page, and 'sweep:places' names runs: mgbench report page sweep:places (./sweep:places for a folder of that name)" mgbench report sweep:places
expect 2 '' 'mgbench: report: DIR is a folder, which gets an index.html: mgbench report page last' mgbench report page.html last
printf 'not a folder' >file
expect 1 '' "mgbench: report: making the folder 'file' failed: it is a file" mgbench report file sweep:places
expect 2 '' "mgbench: report: a word is missing; usage: mgbench report DIR [MODEL | RUN|sweep:NAME...] [options]" mgbench report
same 'the page is as before' 1 "$(grep -c '</html>' a/b/index.html)"

# What a script may not draw.
cat >wrong.lua <<'LUA'
local rows = { { gpus = 1, batch = 8, step_ms = 2 }, { gpus = 2, batch = 8, step_ms = 3 }, { gpus = 2, batch = 16, step_ms = 4 } }
local function try(o) print((select(2, pcall(mgb.plot, rows, o)):gsub("^[^ ]* ", ""))) end
try{ x = "gpus", y = "step_ms" }
try{ x = "gpuss", y = "step_ms" }
try{ x = "gpus", y = "step_ms", bye = "batch" }
try{ y = "step_ms" }
try{ x = "gpus", y = "step_ms", by = "batch", kind = "pie" }
try{ x = "gpus", y = "step_ms", where = { batch = 7 } }
try{ x = "gpus", y = "step_ms", by = "batch", file = "/x.svg" }
mgb.plot(rows, { x = "gpus", y = "step_ms", where = { batch = 8 } })
LUA
expect 0 "mgb.plot: 'batch' varies among the rows (8, 16) and is in none of x, by, facet and where: name it there
mgb.plot: no row has a column 'gpuss' (did you mean 'gpus'?)
mgb.plot: unknown option 'bye' (did you mean 'by'?)
mgb.plot: x: text expected, got nil
mgb.plot: kind: \"lines\", \"points\" or \"bars\" expected, got \"pie\"
mgb.plot: no row is left to show; see rows and where
mgb.plot: \"/x.svg\" cannot be written: scripts write only under the output folder, \".\"
step_ms by gpus" '' sh -c '"$MGBENCH" -e wrong.lua | sed "8s/^Step time/step_ms/; 8s/gpus:.*/gpus/; 9,\$d"'

# The rest draws files.
if ! command -v gnuplot >/dev/null; then
    echo 'SKIP: no gnuplot'
    [ "$failures" -eq 0 ] && exit 77
    exit 1
fi
for kind in placement memory phases; do
    plot 0 "$kind" sweep:places --file "$kind.svg" --size 800x1400
    has "$kind" "$kind.svg" 'viewBox="0 0 800 1400"'
    hasnt "$kind: tooltips" "$kind.svg" '<title'
    has "$kind" "$kind.svg" 'weights /cpu:0, merge /gpu:0'
done
plot 0 scaling sweep:counts --file scaling.svg
has scaling scaling.svg 'ideal: N times one GPU'
plot 0 batch sweep:edge --file batch.PNG
command_line='mgbench plot batch --file batch.PNG'
same 'a PNG' 'PNG' "$(head -c 4 batch.PNG | tail -c 3)"
has report a/b/index.html '<svg'
same "tooltips of a report" 1 "$(grep -c "<title" a/b/index.html)" # the page has its own
plot 1 placement sweep:places --file none/a.svg
has 'no such folder' err "writing the picture 'none/a.svg' failed"
[ "$failures" -eq 0 ]
