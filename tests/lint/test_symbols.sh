# What leaves a folder is called mgb_...: the global symbols of the rooms' libraries.
. "$(dirname "$0")/common.sh"
build=${MGB_BUILD_DIR:?the build tree}
found=$(mktemp)
find "$build/engine" "$build/db" "$build/app" -name 'libmgb_*.a' | LC_ALL=C sort | while read -r library; do
    nm -A -g --defined-only "$library" 2>/dev/null |
        awk '$NF !~ /^(mgb_|__asan|__odr_asan|__tsan|__ubsan|_?_start|_?_stop)/ { print $0 ": must begin with mgb_" }'
done >"$found"
finish "$found"
