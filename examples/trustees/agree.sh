# Functions of the examples with trustees: each organisation writes into its policy what it agrees to, after it compared
# the keys of the others by telephone. To be sourced; `study`, `purpose` and `sprifed` are set.

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
