#compdef accrete
# Completion of accrete for zsh: source <(accrete completion zsh), after compinit
_accrete() {
    local -a lines candidates
    local line
    lines=("${(@f)$(accrete complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    for line in $lines; do
        candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( $#candidates )); then
        _describe -V accrete candidates
    else
        _files
    fi
}
if [[ $funcstack[1] == _accrete ]]; then
    _accrete "$@"
else
    compdef _accrete accrete
fi
