#!/bin/sh
# Runs the study of examples/three_hospitals with the static command. The root folder holds only the command and what
# every container engine provides: /etc/hosts and /dev/{null,random,urandom}. Needs root.
#
#     cargo xtask static
#     sudo sh contrib/container/try.sh target/release/sprifed
set -eu
command=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir "$root/etc" "$root/dev"
install -m 0755 "$command" "$root/sprifed"
echo "127.0.0.1 localhost" > "$root/etc/hosts"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/random" c 1 8
mknod -m 666 "$root/dev/urandom" c 1 9

# The study folder has the same path inside and outside the root folder.
study=$root/study
mkdir -p "$root$root"
ln -s /study "$root$root/study"
mkdir "$study"
cp "$here"/../../examples/three_hospitals/* "$study"
cat > "$root/enter" <<WRAPPER
#!/bin/sh
exec unshare --root="$root" --wd="\$(pwd -P)" /sprifed "\$@"
WRAPPER
chmod +x "$root/enter"
SPRIFED=$root/enter PORT=${PORT:-8443} sh "$study/run.sh" "$study/run"
