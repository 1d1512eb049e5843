# engine/ and db/ neither print nor end the program, and only the registry asks at compile time for a backend.
. "$(dirname "$0")/common.sh"
found=$(mktemp)
sources 'c h cu' engine db | while read -r file; do
    awk -f "$lint/strip.awk" "$file" | awk -v file="$file" '
        /^[ \t]*#/ { next }
        match($0, /(^|[^A-Za-z0-9_])(abort|exit|_exit|_Exit|quick_exit|assert|printf|vprintf|puts|putchar|perror)[ \t]*\(/) ||
        match($0, /(^|[^A-Za-z0-9_])(stderr|stdout)([^A-Za-z0-9_]|$)/) {
            print file ":" NR ": prints or ends the program:" $0
        }'
done >"$found"
sources 'c h cu' engine db app | while read -r file; do
    [ "$file" != engine/backend/registry.c ] || continue
    case $file in engine/cuda/*) own=__CUDACC__ ;; *) own=nothing ;; esac
    awk -v file="$file" -v own="$own" '
        /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif)/ && /MGB_WITH_|MGB_CUDA|MGB_HOST|CUDACC|HAVE_CUDA|HAVE_DNNL/ &&
        !/_H[ \t]*$/ && index($0, own) == 0 { print file ":" FNR ": a question about a backend:" $0 }' "$file"
done >>"$found"
finish "$found"
