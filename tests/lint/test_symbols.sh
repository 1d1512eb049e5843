# What leaves a folder is called mgb_...: a global symbol without that prefix may be used in its own room only, and no
# two rooms may define the same one. Looks at the rooms' libraries in the build tree.
. "$(dirname "$0")/common.sh"
build=${MGB_BUILD_DIR:?the build tree}
found=$(mktemp)
find "$build/engine" "$build/db" "$build/app" -name 'libmgb_*.a' | LC_ALL=C sort | while read -r library; do
    nm -g "$library" 2>/dev/null | awk -v room="$(basename "$library" .a)" 'NF >= 2 { print room, $(NF - 1), $NF }'
done | awk '
    $2 == "U" { used[$3] = used[$3] " " $1 " "; next }
    $2 !~ /^[TDBRC]$/ || $3 ~ /^(_|mgb_sql_|mgb_lua_)/ { next }
    ($3 in home) && home[$3] != $1 { print $3 ": defined in " home[$3] " and in " $1 }
    { home[$3] = $1 }
    END {
        for (name in home) {
            if (name ~ /^mgb_/) continue
            users = used[name]
            gsub(" " home[name] " ", "", users)
            if (users != "") print name ": must begin with mgb_, " home[name] " gives it to" users
        }
    }' >"$found"
finish "$found"
