# Completion of accrete for bash: source <(accrete completion bash)
_accrete() {
    local IFS=$'\n' reply
    reply=($(accrete complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    COMPREPLY=("${reply[@]%%$'\t'*}")
    case ${COMPREPLY[0]} in
    *=) compopt -o nospace ;;
    esac
}
complete -o default -F _accrete accrete
