# What the lint tests share. Each takes the tree to look at as its argument, else $MGB_SOURCE_DIR, prints what it finds
# as file:line: text and exits with 1 when it found something. POSIX shell and awk only.
set -eu
lint=$(cd "$(dirname "$0")" && pwd)
root=${1:-${MGB_SOURCE_DIR:-$(cd "$lint/../.." && pwd)}}
cd "$root"

# sources 'c h' engine db: files with these endings under the folders that exist, sorted.
sources() {
    endings=$1
    shift
    for folder in "$@"; do
        [ -d "$folder" ] || continue
        for ending in $endings; do
            find "$folder" -type f -name "*.$ending"
        done
    done | LC_ALL=C sort
}

# finish FILE: prints the findings in FILE and fails if there are any.
finish() {
    if [ -s "$1" ]; then
        cat "$1"
        echo "$(wc -l <"$1") finding(s)"
        rm -f "$1"
        exit 1
    fi
    rm -f "$1"
}
