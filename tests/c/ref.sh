#!/bin/bash
# ref.sh [NAME...]: builds and runs the C programs of tests/c/conformance, regress and check with a reference MPI, by
# default Debian's MPICH, to prove that they test MPI and not gompirma. A name may include its directory,
# regress/ompi_385; without one it is in conformance. Each program runs with two ranks, unless its line "np:" has no 2.
# Without names all programs run, except those whose header says "ref: none (...)". The last line is "N passed, N
# failed, N left out".
#
#     REF_CC=mpicc.openmpi REF_RUN="mpirun.openmpi --oversubscribe" tests/c/ref.sh put get
#     REF_NP=4 tests/c/ref.sh fence_assert              (another number of ranks)
cd "$(dirname "$0")" || exit 2
cc=${REF_CC:-mpicc.mpich}
run=${REF_RUN:-mpiexec.mpich}
for tool in "$cc" ${run%% *}; do
    command -v "$tool" >/dev/null || { echo "ref.sh: $tool not found (Debian: apt-get install mpich libmpich-dev)"; exit 2; }
done
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

line() { sed -n "s/^ \* $2: *//p" "$1" | tr '\n' ' ' | sed 's/ $//'; }

sources=()
left=0
if [ $# -gt 0 ]; then
    for name in "$@"; do
        case $name in */*) ;; *) name=conformance/$name ;; esac
        sources+=("${name%.c}.c")
    done
else
    for source in conformance/*.c regress/*.c check/*.c; do
        case $(line "$source" ref) in
        none*) left=$((left + 1)) ;;
        *) sources+=("$source") ;;
        esac
    done
fi

build() {
    local openmp=
    case $2 in */openmp_*) openmp=-fopenmp ;; esac
    "$1" $openmp -O1 -g -std=gnu11 -w -DCHECK_ARGS="\"$(line "$2" args)\"" -o "$3/$(basename "$2" .c)" "$2" -lm -pthread ||
        echo "$2" >>"$3/unbuilt"
}
export -f build line
must_fail() { sh must_fail.sh "$1" '' "${@:2}"; }
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} bash -c 'build "$@"' build "$cc" {} "$work"

passed=0
failed=0
for source in "${sources[@]}"; do
    name=$(basename "$source" .c)
    if [ ! -x "$work/$name" ]; then
        echo "FAILED $name: does not build"
        failed=$((failed + 1))
        continue
    fi
    np=$(line "$source" np)
    if [ -n "$REF_NP" ]; then n=$REF_NP; else case " $np " in *" 2 "*) n=2 ;; *) n=${np%% *} ;; esac; fi
    check=
    status=$(line "$source" status)
    [ -n "$status" ] && check="must_fail $status" # the text is specific to gompirma
    variants=$(line "$source" args)
    wrong=$(line "$source" ref-wrong)
    wrong=" ${wrong%%(*} "
    for variant in ${variants:--}; do
        [ "$variant" = - ] && variant=
        if [ $# -eq 0 ] && [ -n "$variant" ] && [[ $wrong == *" $variant "* ]]; then
            left=$((left + 1))
            continue
        fi
        limit=$(line "$source" timeout)
        if $check timeout "${limit:-60}" $run -n "$n" "$work/$name" $variant >"$work/out" 2>&1; then
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
