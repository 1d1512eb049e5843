# Prints the second file with the from/to pairs of the first (a .mutant) put in; fails unless each stands once.
FNR == NR {
    if (sub(/^from: */, "")) from[++pairs] = $0
    else if (sub(/^to: */, "")) to[pairs] = $0
    next
}
{
    for (i = 1; i <= pairs; i++) {
        at = index($0, from[i])
        if (at == 0) continue
        seen[i]++
        $0 = substr($0, 1, at - 1) to[i] substr($0, at + length(from[i]))
    }
    print
}
END {
    for (i = 1; i <= pairs; i++) if (seen[i] != 1) exit 1
    if (pairs == 0) exit 1
}
