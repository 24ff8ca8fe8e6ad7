#!/bin/sh
# Writes north.csv, south.csv and west.csv: 400 made-up patients each, 60 measurements, of which three matter.
set -eu
out=${1:?usage: make_data.sh FOLDER}
mkdir -p "$out"
seed=1
for name in north south west; do
    awk -v seed="$seed" 'BEGIN {
        srand(seed)
        printf "risk"; for (j = 1; j <= 60; j++) printf ",m%d", j; printf "\n"
        for (i = 1; i <= 400; i++) {
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
head -n 1 "$out/north.csv" > "$out/header.csv"
