# The blocks of Lua in README.md and scripts/README.md run, and so do the lines that begin with mgbench in README.md. Blocks
# of a section that is marked (later) are left out. Steps are fewer here, and models smaller.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/examples.sh"
prepare
cp -a "$ready" "$work/folder"
smaller() {
    sed 's/steps = [0-9][0-9]*/steps = 12/; s/step([0-9][0-9]*)/step(12)/; s/batch = [0-9][0-9]*/batch = 4/
         s/batch = {8, 16}/batch = {2, 4}/; s/mnist_cnn/digits_cnn/; s/data.mnist{[^}]*}/data.digits{}/
         s/--steps [0-9]*/--steps 5/; s/--batch [0-9]*/--batch 4/; s/--data mnist/--data digits/
         s/placement.lua/& --model digits_cnn --data digits/'
}

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

# "    mgbench run mlp --gpus 2     what it is for": up to two blanks. Placeholders in capitals are no command to run.
blocks=$tried
grep '^    mgbench ' "$MGB_SOURCE_DIR/README.md" | sed 's/^    //; s/   *[^ ].*//' >"$work/lines"
while read -r line; do
    codes=0
    case $line in *siamese_unshared*) codes=1 ;; *doctor*) codes=0,1 ;; esac
    try "$work/folder" "$codes" "$(echo "$line" | smaller)"
done <"$work/lines"
[ "$tried" -ge $((blocks + 6)) ] || { echo "only $tried lines"; failures=1; }
finish
