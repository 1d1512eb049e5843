# Each lint finds the violation planted for it in a small tree of its own, and finds nothing in that tree without it.
set -eu
lint=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

# A tree that breaks no rule.
plant_nothing() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/engine/include/mgb" "$tree/engine/base" "$tree/engine/graph" "$tree/engine/plan" \
        "$tree/engine/exec" "$tree/engine/host" "$tree/db" "$tree/app/script" "$tree/tests/engine/host"
    cp "$lint/../../.clang-format" "$tree"
    echo 'int mgb_status;' >"$tree/engine/include/mgb/status.h"
    echo 'int mgb_plan;' >"$tree/engine/include/mgb/plan.h"
    echo 'int mgb_text;' >"$tree/engine/base/text.h"
    echo 'int mgb_host;' >"$tree/engine/host/host.h"
    echo 'int mgb_step;' >"$tree/engine/plan/step.h"
    cat >"$tree/engine/exec/run.c" <<'C'
#include "engine/plan/step.h"
#include "engine/base/text.h"
#include <mgb/plan.h>
/* printf("in a comment { is no matter"); */
static const char *text = "abort(); exit(1); { {";
C
    echo '#include <mgb/status.h>' >"$tree/db/store.c"
    echo '#include <dnnl.h>' >"$tree/engine/host/dense.c"
    echo '#include <dnnl.h>' >"$tree/tests/engine/host/test_dense.c"
}

# bites LINT 'words of the finding' : fails unless the lint finds them.
bites() {
    if output=$(sh "$lint/test_$1.sh" "$tree" 2>&1); then
        echo "$1 passed a tree with: $2"
        failures=$((failures + 1))
    elif ! printf '%s' "$output" | grep -q -e "$2"; then
        echo "$1 failed without naming: $2"
        printf '%s\n' "$output"
        failures=$((failures + 1))
    fi
    plant_nothing
}

lines() { awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) print text }'; }

plant_nothing
for name in includes sizes calls toplevel headers; do
    sh "$lint/test_$name.sh" "$tree" >/dev/null || { echo "$name finds something in a clean tree"; failures=1; }
done

echo '#include "engine/host/host.h"' >"$tree/engine/exec/run.c"
bites includes 'engine/exec must not include engine/host'
echo '#include "engine/plan/step.h"' >"$tree/engine/graph/graph.c"
bites includes 'engine/graph must not include engine/plan'
echo '#include <mgb/plan.h>' >"$tree/db/store.c"
bites includes 'db must not include engine/include'
echo '#include "engine/base/text.h"' >"$tree/app/script/state.c"
bites includes 'app/script must not include engine/base'
echo '#include "engine/base/text.h"' >"$tree/engine/include/mgb/plan.h"
bites includes 'engine/include must not include engine/base'
echo '#include "text.h"' >"$tree/engine/base/text.c"
bites includes 'not named from the root'
echo '#include <mgb/none.h>' >"$tree/engine/base/text.c"
bites includes 'does not exist'
echo '#include "engine/include/mgb/plan.h"' >"$tree/engine/base/text.c"
bites includes 'public headers are named'
mkdir "$tree/engine/new"
echo '#include <mgb/plan.h>' >"$tree/engine/new/thing.c"
bites includes 'no room of include-rules'
for library in sqlite3.h:db lua.h:app/script dnnl.h:engine/host cuda_runtime_api.h:engine/cuda nccl.h:engine/cuda \
    ncurses.h:app/tui mpi.h:engine/hosts omp.h:-; do
    echo "#include <${library%%:*}>" >"$tree/engine/plan/plan.c"
    bites includes "<${library%%:*}> belongs to ${library##*:}"
done
echo '#include <dnnl.h>' >"$tree/tests/engine/test_plan.c"
bites includes 'tests/engine/test_plan.c:1: <dnnl.h> belongs to'

lines 601 'int x;' >"$tree/engine/base/long.c"
bites sizes 'engine/base/long.c:1: 601 lines'
lines 121 'int x;' >"$tree/engine/base/long.h"
bites sizes 'engine/base/long.h:1: 121 lines'
lines 251 'int x;' >"$tree/engine/include/mgb/plan.h"
bites sizes 'plan.h:1: 251 lines'
{
    printf 'struct s {\n    int a;\n};\n\nstatic int g(int a)\n{\n    return a;\n}\n\nint f(int a,\n      int b)\n{\n'
    lines 78 '    if (a) { b++; }'
    echo '}'
} >"$tree/engine/base/long.c"
bites sizes 'engine/base/long.c:10: a function of 82 lines'

echo 'size_t mgb_size;' >"$tree/engine/base/size.h"
bites headers 'engine/base/size.h:1: does not compile alone'

for call in 'abort();' 'exit(1);' 'printf("x");' 'assert(x);' 'fprintf(stderr, "x");' 'fputs("x", stdout);'; do
    printf 'void f(void)\n{\n    %s\n}\n' "$call" >"$tree/db/store.c"
    bites calls 'db/store.c:3: prints or ends the program'
done
printf '#ifdef MGB_WITH_CUDA\n#endif\n' >"$tree/engine/exec/run.c"
bites calls 'engine/exec/run.c:1: a question about a backend'

touch "$tree/notes.txt"
bites toplevel 'notes.txt: does not belong'

if command -v nm >/dev/null && command -v ar >/dev/null; then
    # A library with what a file defines and uses.
    room() {
        echo "$2" >"$tree/engine/room.c"
        "${CC:-cc}" -c "$tree/engine/room.c" -o "$tree/engine/room.o"
        rm -f "$tree/engine/libmgb_$1.a"
        ar rc "$tree/engine/libmgb_$1.a" "$tree/engine/room.o"
    }
    export MGB_BUILD_DIR="$tree"
    room graph 'int graph_make(void) { return 0; } int mgb_graph_make(void) { return graph_make(); }'
    sh "$lint/test_symbols.sh" "$tree" || failures=1
    room plan 'int graph_make(void); int mgb_plan_make(void) { return graph_make(); }'
    bites symbols 'graph_make: must begin with mgb_, libmgb_graph gives it to libmgb_plan'
    room graph 'int mgb_make(void) { return 0; }'
    room plan 'int mgb_make(void) { return 1; }'
    bites symbols 'mgb_make: defined in libmgb_graph and in libmgb_plan'
fi

echo 'int   x ;' >"$tree/engine/base/text.c"
if sh "$lint/test_format.sh" "$tree" >/dev/null 2>&1; then
    echo 'format passed int   x ;'
    failures=$((failures + 1))
fi

[ "$failures" -eq 0 ] || { echo "$failures lint(s) do not bite"; exit 1; }
