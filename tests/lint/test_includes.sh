# Who may include whom, and who owns which outside library.
. "$(dirname "$0")/common.sh"
found=$(mktemp)
# shellcheck disable=SC2046
awk -v generated='^(db/mgb_sql_|app/script/mgb_lua_|app/cli/mgb_shell_|app/mgb_commit|engine/backend/mgb_contract)[a-z0-9_]*[.]h$' -f "$lint/includes.awk" \
    "$lint/include-rules" "$lint/outside-libraries" $(sources 'c h cu cuh' engine db app tests) >"$found"
finish "$found"
