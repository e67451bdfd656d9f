#!/usr/bin/env bash
# Writes COUNT keys, one after another: `put.sh [COUNT]` (default: 100). It writes through one member, and through another
# when a write fails. It records acknowledged writes in $ACKNOWLEDGED; it does not record or retry a write that fails.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/set_env.sh"

count=${1:-100}
[[ $count =~ ^[0-9]+$ ]] || { echo 'Usage: put.sh [COUNT]' >&2; exit 2; }
run=$(date +%s)-$$ # so that keys of different runs differ
written=0 failed=0 member=() answer='no member is ready'
# The kubelet reports a new member as ready up to a few seconds after the cluster is.
for ((i = 0; i < 30; i++)); do [[ -n $(random_member) ]] && break; sleep 1; done
for ((i = 1; i <= count; i++)); do
  key=$PREFIX$run/$i value=$RANDOM$RANDOM
  ((${#member[@]})) || read -r -a member <<< "$(random_member)"
  if ((${#member[@]})) && answer=$(etcdctl_in "${member[@]}" put "$key" "$value" 2>&1) && [[ $answer == OK ]]; then
    echo "$key $value" >> "$ACKNOWLEDGED"
    written=$((written + 1))
  else
    echo "not acknowledged: $key: ${answer##*$'\n'}" >&2
    failed=$((failed + 1)) member=()
    sleep 1
  fi
  ((i % 25)) || echo "$i of $count: $written acknowledged, $failed not"
done
echo "$written writes acknowledged, $failed not; recorded in $ACKNOWLEDGED"
((written > 0))
