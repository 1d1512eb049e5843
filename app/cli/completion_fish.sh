# What is the same in the completion of every program; PROGRAM is its name.
function __PROGRAM_command -d 'prints the command typed so far'
    set -l value 0
    for word in (commandline -opc)[2..-1]
        if test $value = 1
            set value 0
            continue
        end
        switch $word
            case -e
                echo -- -e
                return
            case '-*'
                __PROGRAM_takes_value $word
                and set value 1
            case '*'
                echo $word
                return
        end
    end
end

function __PROGRAM_is -d 'is this the command; an empty name: is there none yet'
    test "$(__PROGRAM_command)" = "$argv[1]"
end

function __PROGRAM_models
    mgbench models --csv 2>/dev/null | string replace -r ',.*' '' | tail -n +2
end

function __PROGRAM_machines
    mgbench machines --csv 2>/dev/null | string replace -r ',.*' '' | tail -n +2
end

function __PROGRAM_runs
    string join \n last last~1 tag: baseline: sweep:
end

complete -c PROGRAM -f
