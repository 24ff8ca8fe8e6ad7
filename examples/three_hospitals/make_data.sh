#!/bin/sh
# Writes north.csv, south.csv and west.csv: 400 made-up patients each, 60 measurements, of which three matter.
# usage: make_data.sh FOLDER [RECORDS NAME …]   (other numbers of patients, other names)
set -eu
out=${1:?usage: make_data.sh FOLDER [RECORDS NAME …]}
records=${2:-400}
if [ $# -gt 2 ]; then shift 2; else set -- north south west; fi
mkdir -p "$out"
seed=1
for name in "$@"; do
    awk -v seed="$seed" -v records="$records" 'BEGIN {
        srand(seed)
        printf "risk"; for (j = 1; j <= 60; j++) printf ",m%d", j; printf "\n"
        for (i = 1; i <= records; i++) {
            for (j = 1; j <= 60; j++) {
                z = 0; for (k = 0; k < 12; k++) z += rand()
                x[j] = z - 6
            }
            e = 0; for (k = 0; k < 12; k++) e += rand()
            y = 2 * x[7] - 1.5 * x[23] + 1.2 * x[51] + 0.3 * (e - 6)
            printf "%.4f", y; for (j = 1; j <= 60; j++) printf ",%.4f", x[j]; printf "\n"
        }
    }' > "$out/$name.csv"
    seed=$((seed + 1))
done
head -n 1 "$out/$1.csv" > "$out/header.csv"
