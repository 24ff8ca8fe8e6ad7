# Functions of the examples with trustees: each organisation writes into its policy what it agrees to, after it compared
# the keys of the others by telephone; then all processes run. To be sourced; `study`, `purpose`, `port` and `sprifed` are set.

# The identity key in a party.json or trustee.json.
key_of() {
    sed -n 's/^ *"identity": "\([0-9a-f]*\)".*/\1/p' "$1" | head -n 1
}

# The coordinator's key.
coordinator_key() {
    sed -n 's/^ *"coordinator": "\([0-9a-f]*\)".*/\1/p' "$study/invitation.json" | head -n 1
}

# party_agrees FOLDER EPSILON "TRUSTEE-FOLDERS" "PARTY-FOLDERS": the policy of a party.
party_agrees() {
    accepted=
    for trustee in $3; do
        accepted="$accepted${accepted:+, }\"$(key_of "$trustee/trustee.json")\""
    done
    sed -i.first -e "s/^coordinators = .*/coordinators = [\"$(coordinator_key)\"]/" \
        -e "s/^purposes = .*/purposes = [\"$purpose\"]/" \
        -e 's/^columns = .*/columns = ["risk", "m*"]/' \
        -e "s/^largest-epsilon-per-study = .*/largest-epsilon-per-study = $2/" \
        -e 's/^smallest-quorum = .*/smallest-quorum = 1/' \
        -e "s/^trustees = .*/trustees = [$accepted]/" "$1/policy.toml"
    for other in $4; do
        [ "$other" = "$1" ] || echo "$other = \"$(key_of "$other/party.json")\"" >> "$1/policy.toml"
    done
}

# trustee_agrees FOLDER "TRUSTEE-FOLDERS": the policy of a trustee.
trustee_agrees() {
    sed -i.first -e "s/^coordinators = .*/coordinators = [\"$(coordinator_key)\"]/" "$1/policy.toml"
    for other in $2; do
        [ "$other" = "$1" ] || echo "$other = \"$(key_of "$other/trustee.json")\"" >> "$1/policy.toml"
    done
}

# run_study SECONDS "TRUSTEE-FOLDERS" "PARTIES": the coordinator serves, all others connect to it, and it stays for so many
# seconds after the end. Ends when all processes have ended.
run_study() {
    "$sprifed" coordinate "$study" --listen "127.0.0.1:$port" ${PAGE:+--page "$PAGE"} --stay "$1" \
        > coordinator.txt 2> coordinator.log &
    coordinator=$!
    others=
    trap 'kill $coordinator $others 2> /dev/null || true' EXIT
    for name in $2; do
        "$sprifed" trustee "$study/for-trustee-${name%-trustee}" --identity "$name" > "$name.txt" 2> "$name.log" &
        others="$others $!"
    done
    for name in $3; do
        "$sprifed" join "$study/for-$name" --identity "$name" --data "data/$name.csv" > "$name.txt" 2> "$name.log" &
        others="$others $!"
    done
    wait "$coordinator" || { cat coordinator.txt coordinator.log; exit 1; }
    trap - EXIT
    wait
}

# show_result PARTY: what the coordinator printed, the receipts of the coordinator and of one party, the selected features.
show_result() {
    cat coordinator.txt
    "$sprifed" verify "$study/result/receipt.json" --transcript "$study/result/transcript.json"
    "$sprifed" verify "$(ls "$1"/study-*/receipt.json)"
    grep -o '"name": "m[0-9]*"' "$study/result/model.json" | sort -u
}
