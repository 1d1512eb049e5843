# The blocks of Lua in README.md and scripts/README.md run, with fewer steps and a smaller model. Those of a section that is
# marked (later) are left out.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/examples.sh"
prepare
cp -a "$ready" "$work/folder"
# N.lua for each block; the line it begins at is its first.
blocks() { # page
    awk -v folder="$work/blocks" '
        /^#/ { later = /\(later\)/ }
        /^```lua$/ { n++; in_block = !later; file = folder "/" n ".lua"; if (in_block) print "-- line " NR >file; next }
        /^```/ { in_block = 0 }
        in_block { print >file }' "$1"
}
for page in README.md scripts/README.md; do
    rm -rf "$work/blocks"
    mkdir "$work/blocks"
    blocks "$MGB_SOURCE_DIR/$page"
    for block in "$work/blocks"/*.lua; do
        smaller <"$block" >"$work/folder/block.lua"
        command="mgbench -e block.lua --backend host"
        grep -q '^return nn.model' "$block" && command="mgbench check block.lua"
        try "$work/folder" 0 "$command"
        [ "$code" = 0 ] || echo "$page: the block of$(sed -n '1s/--//p' "$block")"
    done
done
[ "$tried" -ge 6 ] || { echo "only $tried blocks"; failures=1; }
finish
