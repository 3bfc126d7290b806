#!/bin/bash
# Runs the steps of packages/Dockerfile in a bare root, as root (make test-recipes).
set -eu -o pipefail
[ -e /mnt/modules ] || [ -e /.dockerenv ] || { echo 'tests/packages/docker.sh: needs a root of scripts/fresh.sh' >&2; exit 2; }
. tests/packages/recipe.sh
sources=$PWD

# Joins continued lines, and runs COPY, WORKDIR and RUN. Other lines are checked by their first word only.
sed -e ':a' -e '/\\$/{N;s/\\\n//;ba}' packages/Dockerfile | while IFS= read -r line; do
	arguments=${line#* }
	case $line in
	'#'* | '' | 'FROM '* | 'CMD '*) ;;
	'COPY . '*) mkdir -p "${arguments#. }" && cp -a "$sources/." "${arguments#. }" ;;
	'COPY --from=build '*) cp ${arguments#--from=build } ;;
	'WORKDIR '*) cd "$arguments" ;;
	'RUN '*)
		echo "== $line"
		sh -ec "$arguments" </dev/null
		;;
	*) fail "unknown instruction: $line" ;;
	esac
done
try_program
echo 'the recipe works'
