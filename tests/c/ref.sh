#!/bin/bash
# ref.sh [NAME...]: builds and runs the C programs of tests/c/conformance, regress and check with a reference MPI, by
# default Debian's MPICH, to prove that they test MPI and not gompirma. NAME may include the directory
# (regress/ompi_385); a NAME without a directory is in conformance. Each program runs with two ranks, or with the first
# number of its line "np:" if that line has no 2. Without NAME all programs run, except those whose first comment says
# "ref: none (...)". The last line of the output is "N passed, N failed, N left out".
#
#     REF_CC=mpicc.openmpi REF_RUN="mpirun.openmpi --oversubscribe" tests/c/ref.sh put get
#     REF_NP=4 tests/c/ref.sh fence_assert              (a different number of ranks)
cd "$(dirname "$0")" || exit 2
cc=${REF_CC:-mpicc.mpich}
run=${REF_RUN:-mpiexec.mpich}
for tool in "$cc" ${run%% *}; do
    command -v "$tool" >/dev/null || { echo "ref.sh: $tool not found (Debian: apt-get install mpich libmpich-dev)"; exit 2; }
done
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# source_of PROGRAM: prints its source file. check/NAME.c is built as two programs: NAME_clean, and NAME_race or
# NAME_error
source_of() { case $1 in check/*) echo "${1%_*}.c" ;; *) echo "$1.c" ;; esac; }
# line PROGRAM KEY: prints the text of the line "KEY:" of its source. For check/NAME_VERSION it prefers the line
# "KEY VERSION:".
line() {
    local version= text file
    file=$(source_of "$1")
    case $1 in check/*) version=" ${1##*_}" ;; esac
    text=$(sed -n "s/^ \* $2$version: *//p" "$file")
    [ -n "$text" ] || text=$(sed -n "s/^ \* $2: *//p" "$file")
    printf '%s\n' "$text" | tr '\n' ' ' | sed 's/ *$//'
}

programs=()
left=0
if [ $# -gt 0 ]; then
    for name in "$@"; do
        case $name in */*) ;; *) name=conformance/$name ;; esac
        name=${name%.c}
        case $name in
        check/*_clean | check/*_race | check/*_error) programs+=("$name") ;;
        check/*) programs+=("${name}_clean" "${name}_$(sed -n 's/^ \* \(race\|error\): .*/\1/p' "$name.c")") ;;
        *) programs+=("$name") ;;
        esac
    done
else
    checked=$(for file in check/*.c; do
        echo "${file%.c}_clean ${file%.c}_$(sed -n 's/^ \* \(race\|error\): .*/\1/p' "$file")"
    done)
    for program in $(ls conformance/*.c regress/*.c | sed 's/\.c$//') $checked; do
        case $(line "$program" ref) in
        none*) left=$((left + 1)) ;;
        *) programs+=("$program") ;;
        esac
    done
fi

build() {
    local flags=
    case $2 in check/*_clean) ;; check/*) flags=-DWRONG ;; esac
    case $2 in */openmp_*) flags="$flags -fopenmp" ;; esac
    "$1" $flags -O1 -g -std=gnu11 -w -DCHECK_ARGS="\"$(line "$2" args)\"" -o "$3/${2//\//_}" "$(source_of "$2")" -lm -pthread
}
export -f build line source_of
must_fail() { sh must_fail.sh "$1" '' "${@:2}"; }
printf '%s\n' "${programs[@]}" | xargs -P "$(nproc)" -I{} bash -c 'build "$@"' build "$cc" {} "$work"

passed=0
failed=0
for name in "${programs[@]}"; do
    binary=$work/${name//\//_}
    if [ ! -x "$binary" ]; then
        echo "FAILED $name: does not build"
        failed=$((failed + 1))
        continue
    fi
    np=$(line "$name" np)
    if [ -n "$REF_NP" ]; then n=$REF_NP; else case " $np " in *" 2 "*) n=2 ;; *) n=${np%% *} ;; esac; fi
    check=
    status=$(line "$name" status)
    [ -n "$status" ] && check="must_fail $status" # without the text of "stderr:", which is specific to gompirma
    variants=$(line "$name" args)
    wrong=$(line "$name" ref-wrong)
    wrong=" ${wrong%%(*} "
    for variant in ${variants:--}; do
        [ "$variant" = - ] && variant=
        if [ $# -eq 0 ] && [ -n "$variant" ] && [[ $wrong == *" $variant "* ]]; then
            left=$((left + 1))
            continue
        fi
        limit=$(line "$name" timeout)
        if $check timeout "${limit:-60}" $run -n "$n" "$binary" $variant >"$work/out" 2>&1; then
            passed=$((passed + 1))
        else
            echo "FAILED $name $variant ($n ranks):"
            head -20 "$work/out" | sed 's/^/    /'
            failed=$((failed + 1))
        fi
    done
done
echo "$passed passed, $failed failed, $left left out"
[ $failed -eq 0 ]
