# The lines of README.md that begin with mgbench run one after another, with fewer steps and a smaller model; selftest, which
# takes a while, is run by tests of its own.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/examples.sh"
prepare
cp -a "$ready" "$work/folder"

# "    mgbench run mlp --gpus 2     what it is for": up to two blanks. Placeholders in capitals are no command to run.
grep '^    mgbench ' "$MGB_SOURCE_DIR/README.md" | sed 's/^    //; s/   *[^ ].*//' >"$work/lines"
while read -r line; do
    codes=0
    case $line in *siamese_unshared*) codes=1 ;; *doctor*) codes=0,1 ;; esac
    try "$work/folder" "$codes" "$(echo "$line" | smaller)"
done <"$work/lines"
[ "$tried" -ge 12 ] || { echo "only $tried lines"; failures=1; }
finish
