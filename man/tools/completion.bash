# Completes the command line of a tool. $1 is the prefix of the tool's tables: $1_names has the options, $1_count the
# number of values that follow an option, $1_value what its value can be: words, or @file, @directory, @variable, @host,
# @command. The key "--opt=" is for a value that must follow the sign "=". $2 is "program" if the first argument that is
# not an option is a program, whose arguments follow; ":" begins another one.
_gompi_complete() {
    local -n names=$1_names count=$1_count value=$1_value
    local line=${COMP_LINE:0:COMP_POINT} cur='' word option='' left=0 program='' name sign
    local -a words
    COMPREPLY=()
    read -ra words <<<"$line"
    if [[ $line != *[[:space:]] ]]; then
        cur=${words[-1]}
        unset 'words[-1]'
    fi
    for word in "${words[@]:1}"; do
        if [[ $program ]]; then
            [[ $word != : ]] || program=
        elif ((left > 0)); then
            ((left--))
        elif [[ $word == -* ]]; then
            option=$word
            left=${count[$word]-0}
        elif [[ $2 == program ]]; then
            program=$word
        fi
    done
    if [[ $program ]]; then
        compopt -o default
    elif ((left > 0)); then
        _gompi_value "${value[$option]}" "$cur" ''
    elif [[ $cur == -*[=:]* ]]; then
        name=${cur%%[=:]*}
        sign=${cur:${#name}:1}
        word=${value[$name$sign]-${value[$name]-}}
        # bash has split the word at the sign, so the reply begins after it, unless the user has changed this.
        [[ $COMP_WORDBREAKS != *"$sign"* ]] || name='' sign=''
        _gompi_value "$word" "${cur#*[=:]}" "$name$sign"
    elif [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$names" -- "$cur"))
        [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *[=:] ]] || compopt -o nospace
    elif [[ $2 == program && $cur && $cur != */* ]]; then
        compopt -o filenames
        COMPREPLY=($(compgen -A command -- "$cur") $(compgen -A file -- "$cur"))
    else
        compopt -o default
    fi
}

# Completes the value $2, which can be $1. The replies begin with $3.
_gompi_value() {
    local word
    for word in $1; do
        case $word in
        @file | @directory) compopt -o filenames ;;&
        @file) COMPREPLY+=($(compgen -P "$3" -A file -- "$2")) ;;
        @directory) COMPREPLY+=($(compgen -P "$3" -A directory -- "$2")) ;;
        @variable) COMPREPLY+=($(compgen -P "$3" -A export -- "$2")) ;;
        @host) COMPREPLY+=($(compgen -P "$3" -A hostname -- "$2")) ;;
        @command) COMPREPLY+=($(compgen -P "$3" -A command -- "$2")) ;;
        *)
            COMPREPLY+=($(compgen -P "$3" -W "$word" -- "$2"))
            [[ $word != *: || ${COMPREPLY[*]} != *: ]] || compopt -o nospace
            ;;
        esac
    done
}
