# The table of commands and the documents agree: every command and option has its words and examples, documents name what
# exists, all commands are in the manual, and nothing that exists is still said to come.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
root=$MGB_SOURCE_DIR
tab=$(printf '\t')
mgbench generate table >"$work/table"
command_line='the table of commands'
names=$(awk -F"$tab" '$1 == "command" { print $2 }' "$work/table")
same 'commands' yes "$([ "$(echo "$names" | wc -l)" -gt 20 ] && echo yes)"
same 'without an example' '' "$(awk -F"$tab" '$1 == "command" && $3 == 0 { print $2 }' "$work/table")"
same 'without words' '' "$(awk -F"$tab" '($1 == "command" || $1 == "flag") && $4 == "" { print $2, $3 }' "$work/table")"
same 'words of an option that do not begin small, or end with a stop' '' \
    "$(awk -F"$tab" '$1 == "flag" && ($4 ~ /\.$/ || $4 ~ /^[A-Z][a-z]+ [a-z]/ && $4 !~ /^(CPU|GPU|Nesterov)/) { print $2, $3 ": " $4 }' "$work/table")"

# Where each command is named in the manual.
command_line='scripts/README.md'
for name in $names; do
    same "$name" yes "$(grep -q "^    mgbench $name\( \|\$\)" "$root/scripts/README.md" && echo yes)"
done

mgbench -e 'for part, of in pairs{ mgb = mgb, data = mgb.data, nn = nn } do
    for name in pairs(of) do print(part .. "." .. name) end end' >"$work/names"
same 'names in Lua' yes "$([ "$(wc -l <"$work/names")" -gt 50 ] && echo yes)"
while read -r name; do
    same "$name is in the manual" yes "$(grep -qw -- "${name#*.}" "$root/scripts/README.md" && echo yes)"
done <"$work/names"

# "mgbench word ... --option" in lines of code and in `words`: they exist. Scripts have options of their own.
command_line='what documents name'
for page in README.md scripts/README.md db/README.md; do
    [ -f "$root/$page" ] || continue
    { grep -o '^    mgbench [^#]*' "$root/$page" | sed 's/^    //; s/   *[^ ].*//'
      grep -o '`mgbench [^`]*`' "$root/$page" | tr -d '`'; } >"$work/lines"
    while read -r program name rest; do
        case $name in -e | COMMAND | --*) continue ;; esac
        same "$page: $program $name" yes "$(echo "$names" | grep -qx -- "$name" && echo yes)"
        [ "$name" = sweep ] && rest=${rest%% -- *}
        for word in $rest; do
            case $word in --?*) ;; *) continue ;; esac
            option=${word%%=*}
            positive=--${option#--no-}
            found=$(awk -F"$tab" -v c="$name" -v o="$option" -v p="$positive" \
                '$1 == "flag" && ($2 == c || $2 == "*") && ($3 == o || $3 == p) { print "yes"; exit }' "$work/table")
            same "$page: $program $name $option" yes "$found"
        done
    done <"$work/lines"
done

# What is said to come is not there: functions of mgb.
command_line='what is said to come'
missing=$(sed -n 's/^for _, name in ipairs{\(.*\)} do$/\1/p' "$root/scripts/lib/later.lua" | tr -d '",')
sed -n '/^\*(later)\*/,/^$/p' "$root/scripts/README.md" | tr '\n' ' ' >"$work/marked"
sed -n '/^## What is not there yet/,$p' "$root/README.md" | tr '\n' ' ' >>"$work/marked"
for name in $(grep -o 'mgb\.[a-z_.]*' "$work/marked" | grep -v '\..*\.' | sort -u); do
    same "$name is marked (later), and is not there" yes "$(echo " $missing " | grep -q " ${name#mgb.} " && echo yes)"
done
for name in $missing; do
    same "mgb.$name is marked (later)" yes "$(grep -q "mgb\.$name\b" "$work/marked" || grep -q "^## .*machine.*(later)" "$root/scripts/README.md" && echo yes)"
done
finish
