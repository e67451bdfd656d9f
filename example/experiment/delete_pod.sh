#!/usr/bin/env bash
# Deletes the pod of a random member, again and again: `delete_pod.sh [TIMES]` (default: 10; Ctrl-C ends it). In between it
# waits until the cluster is Ready again, because etcd survives only the loss of a minority.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/set_env.sh"

times=${1:-10}
[[ $times =~ ^[0-9]+$ ]] || { echo 'Usage: delete_pod.sh [TIMES]' >&2; exit 2; }

# Whether the status still counts the pod as a member. Without an answer it may: the next pod must not be deleted yet.
is_member() {
  local endpoints
  endpoints=$(kube get etcdcluster "$CLUSTER" --output 'jsonpath={.status.clientEndpoints}') || return 0
  [[ $endpoints == *"//$1."* ]]
}

await_ready() {
  kubectl --namespace="$NAMESPACE" wait --for=condition=Ready --timeout=180s "etcdcluster/$CLUSTER" > /dev/null
}

await_ready
for ((i = 1; i <= times; i++)); do
  read -r pod _ <<< "$(random_member)"
  SECONDS=0
  kube delete pod "$pod" --now > /dev/null
  # "Ready" may be from before the deletion: it counts once the member is off the list.
  while is_member "$pod"; do
    ((SECONDS < 180)) || { echo "After $SECONDS s the status still counts $pod as a member." >&2; exit 1; }
    sleep 0.2
  done
  await_ready
  echo "$i of $times: $pod was deleted; Ready again after $SECONDS s"
done
