# What is the same in the completion of every program; PROGRAM is its name. The tables before it are generated.
_PROGRAM_offer() # PREFIX PART: adds to COMPREPLY what may complete PART, by kind and words
{
    local word found=()
    case " $kind " in *' runs '*) words+=' last last~1 tag: baseline: sweep:' ;; esac
    case " $kind " in *' models '*)
        words+=" $(mgbench models --csv 2>/dev/null | sed -n '2,$s/,.*//p')"
        [[ $2 == *[./]* ]] && kind+=' files' ;;
    esac
    case " $kind " in *' machines '*)
        words+=" $(mgbench machines --csv 2>/dev/null | sed -n '2,$s/,.*//p')"
        [[ $2 == *[./]* ]] && kind+=' files' ;;
    esac
    [[ $words ]] && mapfile -t found < <(compgen -W "$words" -- "$2")
    case " $kind " in *' files '* | *' folders '*)
        local action=-f
        [[ $kind == *folders* ]] && action=-d
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#found[@]}" found < <(compgen $action -- "$2") ;;
    esac
    for word in "${found[@]}"; do COMPREPLY+=("$1$word"); done
}

_PROGRAM()
{
    # The line itself: COMP_WORDS is cut at '=' and ':', which names of devices and runs have.
    local line=${COMP_LINE:0:COMP_POINT} cur= command= flag= kind= words= rest= position=0
    local word typed i cut= head
    COMPREPLY=()
    read -ra typed <<<"$line"
    if [[ $line != *[[:space:]] ]]; then
        cur=${typed[-1]}
        unset 'typed[-1]'
    fi
    for word in "${typed[@]:1}"; do
        if [[ $flag ]]; then
            flag=
            continue
        fi
        case $word in
            --) rest=1 && break ;;
            -e) command=${command:--e} ;;
            -*=*) ;;
            -*)
                kind=
                _PROGRAM_value "$command $word"
                [[ $kind == value* ]] && flag=$word ;;
            *) if [[ $command ]]; then position=$((position + 1)); else command=$word; fi ;;
        esac
    done
    kind= words=
    if [[ $flag ]]; then
        _PROGRAM_value "$command $flag"
        _PROGRAM_offer '' "$cur"
    elif [[ $rest ]]; then
        kind=files
        _PROGRAM_offer '' "$cur"
    elif [[ $cur == -*=* ]]; then
        _PROGRAM_value "$command ${cur%%=*}"
        _PROGRAM_offer "${cur%%=*}=" "${cur#*=}"
    elif [[ $cur == -* ]]; then
        words=$(_PROGRAM_flags "$command")
        _PROGRAM_offer '' "$cur"
    else
        _PROGRAM_word "$command $position"
        _PROGRAM_offer '' "$cur"
    fi
    # What stands before the last '=' or ':' is no part of the word that bash replaces.
    for word in = :; do
        [[ $COMP_WORDBREAKS == *$word* && $cur == *$word* ]] || continue
        head=${cur%"${cur##*$word}"}
        ((${#head} > ${#cut})) && cut=$head
    done
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$cut"}; done
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -F _PROGRAM PROGRAM
