#!/bin/sh
# Three hospitals that are their own trustees, and a coordinator: seven processes on this machine, one study over mutual TLS.
# usage: three_hospitals.sh [FOLDER]   (set SPRIFED to the command if it is not on the PATH)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sprifed=${SPRIFED:-sprifed}
case $sprifed in */*) sprifed=$(cd "$(dirname "$sprifed")" && pwd)/$(basename "$sprifed") ;; esac
folder=${1:-hospitals-as-trustees}
port=${PORT:-8443}
[ ! -e "$folder" ] || { echo "$folder already exists: remove it or name another folder" >&2; exit 2; }
mkdir "$folder"
sh "$here/../three_hospitals/make_data.sh" "$folder/data" 100 north south west
cd "$folder"
study=heart
purpose="which measurements predict the heart risk"
. "$here/study.sh"

# 1. Each hospital makes two identities: as a party, which has records, and as a trustee, which computes on shares.
#    It sends party.json and trustee.json to the coordinator.
for name in north south west; do
    "$sprifed" study identity "$name" --records 100 > /dev/null
    "$sprifed" study trustee "$name" --out "$name-trustee" > /dev/null
done

# 2. The coordinator defines the study and makes an invitation for each party and each trustee.
"$sprifed" study init "$study" --title "Heart risk" --purpose "$purpose" \
    --party north/party.json --party south/party.json --party west/party.json \
    --trustee north-trustee/trustee.json --trustee south-trustee/trustee.json --trustee west-trustee/trustee.json \
    --schema "$here/../three_hospitals/schema.toml" --columns data/header.csv \
    --sparsity 3 --epsilon 3 --delta 1e-6 --repeats 1 \
    --address "localhost:$port"

# 3. Each hospital compares the keys of the coordinator, of the other parties and of all trustees by telephone, writes
#    into its policies what it agrees to, and checks the study in both roles.
for name in north south west; do
    party_agrees "$name" 5.0 "north-trustee south-trustee west-trustee" "north south west"
    trustee_agrees "$name-trustee" "north-trustee south-trustee west-trustee"
    "$sprifed" join "$study/for-$name" --identity "$name" --data "data/$name.csv" --check > "$name.check.txt"
    "$sprifed" trustee "$study/for-trustee-$name" --identity "$name-trustee" --check > "$name-trustee.check.txt"
done
cat north.check.txt north-trustee.check.txt

# 4. The coordinator serves; the trustees and the parties connect to it.
run_study 5 "north-trustee south-trustee west-trustee" "north south west"

# 5. The coordinator and each party have the model and a receipt that anyone can verify.
show_result north
"$sprifed" study status "$study"
"$sprifed" study status north-trustee
