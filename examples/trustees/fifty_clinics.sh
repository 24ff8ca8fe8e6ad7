#!/bin/sh
# Fifty clinics with ten records each, three outside trustees and a coordinator: 54 processes on this machine.
# usage: fifty_clinics.sh [FOLDER]   (CLINICS=8 RECORDS=60 for a smaller machine; SPRIFED if it is not on the PATH)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sprifed=${SPRIFED:-sprifed}
case $sprifed in */*) sprifed=$(cd "$(dirname "$sprifed")" && pwd)/$(basename "$sprifed") ;; esac
folder=${1:-fifty-clinics}
port=${PORT:-8443}
records=${RECORDS:-10}
clinics=$(seq -f 'clinic%g' 1 "${CLINICS:-50}")
[ ! -e "$folder" ] || { echo "$folder already exists: remove it or name another folder" >&2; exit 2; }
mkdir "$folder"
# shellcheck disable=SC2086
sh "$here/../three_hospitals/make_data.sh" "$folder/data" "$records" $clinics
cd "$folder"
study=heart
purpose="which measurements predict the heart risk"
. "$here/study.sh"

# 1. Each clinic makes an identity. A computing centre, a trust office and an agency are the trustees; they have no records.
trustees="centre trust-office agency"
files=
for name in $clinics; do
    "$sprifed" study identity "$name" --records "$records" > /dev/null
    files="$files --party $name/party.json"
done
for name in $trustees; do
    "$sprifed" study trustee "$name" > /dev/null
    files="$files --trustee $name/trustee.json"
done

# 2. The coordinator defines the study.
# shellcheck disable=SC2086
"$sprifed" study init "$study" --title "Heart risk" --purpose "$purpose" $files \
    --schema "$here/../three_hospitals/schema.toml" --columns data/header.csv \
    --sparsity 3 --epsilon 3 --delta 1e-6 --repeats 1 \
    --address "localhost:$port"

# 3. All compare keys by telephone, write their policies, and check the study.
for name in $clinics; do
    party_agrees "$name" 5.0 "$trustees" "$clinics"
    "$sprifed" join "$study/for-$name" --identity "$name" --data "data/$name.csv" --check > "$name.check.txt"
done
for name in $trustees; do
    trustee_agrees "$name" "$trustees"
    "$sprifed" trustee "$study/for-trustee-$name" --identity "$name" --check > "$name.check.txt"
done
cat clinic1.check.txt centre.check.txt

# 4. The coordinator serves. A clinic sends one message for each step and may be away for some of them: nothing waits for
#    more than --wait-for-answers seconds, and no step fails because a clinic is missing.
run_study 10 "$trustees" "$clinics"

# 5. The result.
show_result clinic1
