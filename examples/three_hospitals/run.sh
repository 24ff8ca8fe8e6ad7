#!/bin/sh
# Three hospitals and a coordinator, four processes on this machine, one study over mutual TLS.
# usage: run.sh [FOLDER]   (set SPRIFED to the command if it is not on the PATH)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sprifed=${SPRIFED:-sprifed}
case $sprifed in */*) sprifed=$(cd "$(dirname "$sprifed")" && pwd)/$(basename "$sprifed") ;; esac
folder=${1:-three-hospitals}
port=${PORT:-8443}
[ ! -e "$folder" ] || { echo "$folder is there already: remove it or name another folder" >&2; exit 2; }
mkdir "$folder"
sh "$here/make_data.sh" "$folder/data"
cd "$folder"

# 1. Each hospital makes its identity and sends party.json to the coordinator.
for name in north south west; do
    "$sprifed" study identity "$name" --records 400 > /dev/null
done

# 2. The coordinator writes down the study and makes an invitation for each.
purpose="which measurements predict the heart risk"
"$sprifed" study init heart --title "Heart risk" --purpose "$purpose" \
    --party north/party.json --party south/party.json --party west/party.json \
    --schema "$here/schema.toml" --columns data/header.csv \
    --sparsity 3 --epsilon 6 --delta 1e-6 --procedure grad \
    --address "localhost:$port"

# 3. Each hospital compares the keys of the coordinator and of the other hospitals by telephone, writes into its policy
#    what it agrees to, and checks the study.
key=$(sed -n 's/^ *"coordinator": "\([0-9a-f]*\)".*/\1/p' heart/invitation.json)
for name in north south west; do
    sed -i.first -e "s/^coordinators = .*/coordinators = [\"$key\"]/" \
        -e "s/^purposes = .*/purposes = [\"$purpose\"]/" \
        -e 's/^columns = .*/columns = ["risk", "m*"]/' \
        -e 's/^largest-epsilon-per-study = .*/largest-epsilon-per-study = 6.0/' "$name/policy.toml"
    for other in north south west; do
        [ "$other" = "$name" ] || sed -n "s/^ *\"identity\": \(\"[0-9a-f]*\"\).*/$other = \1/p" "$other/party.json" \
            >> "$name/policy.toml"
    done
    "$sprifed" join "heart/for-$name" --identity "$name" --data "data/$name.csv" --check > "$name.check.txt"
done
cat north.check.txt

# 4. The coordinator serves, the hospitals join.
"$sprifed" coordinate heart --listen "127.0.0.1:$port" ${PAGE:+--page "$PAGE"} --stay 5 \
    > coordinator.txt 2> coordinator.log &
coordinator=$!
parties=
trap 'kill $coordinator $parties 2> /dev/null || true' EXIT
for name in north south west; do
    "$sprifed" join "heart/for-$name" --identity "$name" --data "data/$name.csv" \
        > "$name.txt" 2> "$name.log" &
    parties="$parties $!"
done
wait "$coordinator" || { cat coordinator.txt coordinator.log; exit 1; }
trap - EXIT
wait

# 5. All parties have a receipt that any reader can verify, and the model.
cat coordinator.txt
"$sprifed" verify heart/result/receipt.json
"$sprifed" verify "$(ls north/study-*/receipt.json)"
"$sprifed" study status heart
grep -o '"name": "m[0-9]*"' heart/result/model.json
