# engine/ and db/ neither print nor end the program, and outside engine/cuda only the registry asks about a backend when
# compiled.
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
    case $file in engine/backend/registry.c | engine/cuda/*) continue ;; esac
    awk -v file="$file" '
        /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif)/ && /MGB_WITH_|MGB_CUDA|MGB_HOST|CUDACC|HAVE_CUDA|HAVE_DNNL/ &&
        !/_H[ \t]*$/ { print file ":" FNR ": a question about a backend:" $0 }' "$file"
done >>"$found"
finish "$found"
