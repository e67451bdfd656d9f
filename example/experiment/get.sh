#!/usr/bin/env bash
# Reads everything back and compares: etcd must have every write in $ACKNOWLEDGED with its value. Prints what is missing
# and exits with 1 if anything is. Stop delete_pod.sh first.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/set_env.sh"

[[ -s $ACKNOWLEDGED ]] || { echo "$ACKNOWLEDGED has no writes: run put.sh first." >&2; exit 2; }
export LC_ALL=C
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sort -u "$ACKNOWLEDGED" > "$folder/acknowledged"
# etcdctl prints a key and its value on two lines.
etcdctl_of_cluster get --prefix "$PREFIX" > "$folder/answer"
paste -d ' ' - - < "$folder/answer" | sort > "$folder/found"
comm -23 "$folder/acknowledged" "$folder/found" > "$folder/missing"

acknowledged=$(wc -l < "$folder/acknowledged") missing=$(wc -l < "$folder/missing")
if ((missing > 0)); then
  echo "LOST: $((missing)) of $((acknowledged)) acknowledged writes are missing or have another value:" >&2
  cat "$folder/missing" >&2
  exit 1
fi
echo "All $((acknowledged)) acknowledged writes are there."
