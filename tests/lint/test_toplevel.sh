# The top level holds what design says: five folders, four files and dot-files. What git ignores does not count.
. "$(dirname "$0")/common.sh"
found=$(mktemp)
for entry in *; do
    case $entry in
        CMakeLists.txt | CMakePresets.json | README.md | LICENSE | app | engine | scripts | db | tests) continue ;;
    esac
    git check-ignore -q "$entry" 2>/dev/null && continue
    [ "$entry" = build ] && continue
    echo "$entry: does not belong at the top level" >>"$found"
done
finish "$found"
