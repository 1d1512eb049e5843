# Sizes: files 600 lines at most (400 wanted), functions 80 (40 wanted), headers 120, contract headers 250.
. "$(dirname "$0")/common.sh"
found=$(mktemp)
lengths=$(mktemp)

sources 'c h cu cuh lua sql sh awk cmake' engine db app scripts tests | while read -r file; do
    lines=$(wc -l <"$file")
    case $file in
        engine/include/mgb/*.h | engine/graph/graph.h | engine/graph/kinds.h | engine/plan/plan.h | engine/backend/backend.h | app/script/services.h) most=250 ;;
        *.h) most=120 ;;
        *) most=600 ;;
    esac
    [ "$lines" -le "$most" ] || echo "$file:1: $lines lines, at most $most" >>"$found"
    [ "$lines" -le 400 ] || echo "note: $file has $lines lines, 400 wanted"
done

sources 'c h cu' engine db app tests | while read -r file; do
    awk -f "$lint/strip.awk" "$file" | awk -v file="$file" -f "$lint/functions.awk"
done >"$lengths"
awk '$1 > 80 { print $2 ": a function of " $1 " lines, at most 80" }' "$lengths" >>"$found"
awk '$1 > 60 { over60++ } $1 > 40 { over40++ }
     END { printf "note: %d functions, %d over 40 lines, %d over 60\n", NR, over40, over60 }' "$lengths"
rm -f "$lengths"
finish "$found"
