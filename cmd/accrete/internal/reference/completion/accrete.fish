# Completion of accrete for fish: accrete completion fish | source
function __accrete_complete
    set -l words (commandline -opc) (commandline -ct)
    accrete complete -- $words[2..-1] 2>/dev/null
end
complete -c accrete -f -a '(__accrete_complete)'
complete -c accrete -n 'test -z "$(__accrete_complete)"' -F
