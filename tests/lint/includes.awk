# Checks the #include lines of C files against include-rules and outside-libraries (read first, in this order).
# Prints file:line: text for each one that breaks a rule. -v generated=REGEX: headers that exist only in a build.
function room_of(path,    best, room) {
    best = ""
    for (room in known)
        if ((path == room || index(path, room "/") == 1) && length(room) > length(best)) best = room
    return best
}
# Everything `room` may include, itself included, into granted[room, x].
function grants_close(room,    todo, count, i, j, words, n, seen, at) {
    count = 1
    todo[1] = room
    for (i = 1; i <= count; i++) {
        at = todo[i]
        if (at in seen) continue
        seen[at] = 1
        granted[room, at] = 1
        n = split(direct[at], words, " ")
        for (j = 1; j <= n; j++) todo[++count] = words[j]
    }
    closed[room] = 1
}
function glob_match(name, pattern) {
    gsub(/\./, "\\.", pattern)
    gsub(/\*/, ".*", pattern)
    return name ~ ("^" pattern "$")
}
function complain(text) { print FILENAME ":" FNR ": " text }
function in_folder(path, folder) { return index(path, folder "/") == 1 }

# A header of an outside library: only its owner, and the tests that mirror the owner.
function outside_check(name,    i, j, n, words, ok, owners) {
    for (i = 1; i <= pattern_count; i++) {
        if (!glob_match(name, pattern[i])) continue
        n = split(owner[i], words, " ")
        ok = 0
        for (j = 1; j <= n; j++)
            if (in_folder(FILENAME, words[j]) || in_folder(FILENAME, "tests/" words[j])) ok = 1
        if (!ok) complain("<" name "> belongs to " owner[i])
        return
    }
}
function inside_check(path,    room, other) {
    if (in_folder(FILENAME, "tests")) return
    room = room_of(FILENAME)
    if (room == "") { complain("no room of include-rules holds this file"); return }
    if (!(room in closed)) grants_close(room)
    if ((room, path) in granted) return
    other = room_of(path)
    if (other == "") { complain("\"" path "\" is in no room of include-rules"); return }
    if (!((room, other) in granted)) complain(room " must not include " other " (" path ")")
}
function header_exists(path,    line, status) {
    if (path in exists) return exists[path]
    status = (getline line < path)
    close(path)
    return exists[path] = (status >= 0)
}

FNR == 1 { file_number++ }
file_number <= 2 { sub(/#.*/, "") }
file_number == 1 && NF {
    known[$1] = 1
    name = $1
    $1 = ""
    direct[name] = $0
    next
}
file_number == 2 && NF {
    owners = ""
    for (i = 1; i <= NF; i++) if ($i !~ /\.h$|\*$/) owners = owners (owners == "" ? "" : " ") $i
    for (i = 1; i <= NF; i++)
        if ($i ~ /\.h$|\*$/) { pattern[++pattern_count] = $i; owner[pattern_count] = owners }
    next
}
file_number <= 2 { next }
/^[ \t]*#[ \t]*include/ {
    text = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", text)
    if (text ~ /^<mgb\/[^>]*>/) {
        path = substr(text, 2, index(text, ">") - 2)
        if (!header_exists("engine/include/" path)) complain("<" path "> does not exist")
        inside_check("engine/include/" path)
    } else if (text ~ /^</) {
        outside_check(substr(text, 2, index(text, ">") - 2))
    } else if (text ~ /^"/) {
        path = substr(text, 2)
        path = substr(path, 1, index(path, "\"") - 1)
        if (path !~ generated && !header_exists(path)) complain("\"" path "\" is not named from the root")
        else if (path ~ /^engine\/include\//) complain("public headers are named <mgb/...>, not \"" path "\"")
        else inside_check(path)
    } else complain("an include must be <...> or \"...\"")
}
