#!/bin/sh
# Two hospitals that are trustees, and a coordinator that is the third: six processes on this machine.
# usage: two_hospitals.sh [FOLDER]   (set SPRIFED to the command if it is not on the PATH)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sprifed=${SPRIFED:-sprifed}
case $sprifed in */*) sprifed=$(cd "$(dirname "$sprifed")" && pwd)/$(basename "$sprifed") ;; esac
folder=${1:-two-hospitals}
port=${PORT:-8443}
[ ! -e "$folder" ] || { echo "$folder already exists: remove it or name another folder" >&2; exit 2; }
mkdir "$folder"
sh "$here/../three_hospitals/make_data.sh" "$folder/data" 150 north south
cd "$folder"
study=heart
purpose="which measurements predict the heart risk"
. "$here/study.sh"

# 1. Each hospital makes an identity as a party and one as a trustee. The organisation that coordinates makes one as a
#    trustee too. It may not collude with either hospital: together they would be two trustees.
for name in north south; do
    "$sprifed" study identity "$name" --records 150 > /dev/null
done
for name in north south university; do
    "$sprifed" study trustee "$name" --out "$name-trustee" > /dev/null
done

# 2. The coordinator, which is the university, defines the study.
"$sprifed" study init "$study" --title "Heart risk" --purpose "$purpose" \
    --party north/party.json --party south/party.json \
    --trustee north-trustee/trustee.json --trustee south-trustee/trustee.json --trustee university-trustee/trustee.json \
    --schema "$here/../three_hospitals/schema.toml" --columns data/header.csv \
    --sparsity 3 --epsilon 3 --delta 1e-6 --repeats 1 \
    --address "localhost:$port"

# 3. All compare keys by telephone, write their policies, and check the study.
trustees="north-trustee south-trustee university-trustee"
for name in north south; do
    party_agrees "$name" 5.0 "$trustees" "north south"
    "$sprifed" join "$study/for-$name" --identity "$name" --data "data/$name.csv" --check > "$name.check.txt"
done
for name in north south university; do
    trustee_agrees "$name-trustee" "$trustees"
    "$sprifed" trustee "$study/for-trustee-$name" --identity "$name-trustee" --check > "$name-trustee.check.txt"
done
cat north.check.txt university-trustee.check.txt

# 4. The university runs two processes: the coordinator, and its trustee. The hospitals run two each.
run_study 5 "$trustees" "north south"

# 5. The result.
show_result south
