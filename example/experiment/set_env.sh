#!/usr/bin/env bash
# What the other scripts of this folder share; they source it. To choose a cluster, set these before:
#   CLUSTER=my-etcd NAMESPACE=default ACKNOWLEDGED=/tmp/acknowledged.txt
# Sourced into a shell of yours (`source example/experiment/set_env.sh`) it gives you `etcdctl_of_cluster`.

CLUSTER=${CLUSTER:-example-etcd-cluster}
NAMESPACE=${NAMESPACE:-$(kubectl config view --minify --output 'jsonpath={..namespace}')}
NAMESPACE=${NAMESPACE:-default}
# kubectl in the cluster's namespace; no request of it hangs for ever.
kube() {
  kubectl --namespace="$NAMESPACE" --request-timeout=20s "$@"
}

# One line for each write that etcd said yes to: key, space, value. The uid is in its name, because a cluster that was made
# anew under the same name does not have what was written to the last one.
ACKNOWLEDGED=${ACKNOWLEDGED:-${TMPDIR:-/tmp}/acknowledged-$NAMESPACE-$CLUSTER-$(kube get etcdcluster "$CLUSTER" --output 'jsonpath={.metadata.uid}').txt}
# All keys of the experiment begin with this.
PREFIX=experiment/
export CLUSTER NAMESPACE ACKNOWLEDGED PREFIX

# A ready member, at random: one line with its name and its version of etcd.
random_member() {
  kube get pods --selector="app=etcd,etcd_cluster=$CLUSTER" --output 'jsonpath={range .items[*]}{.metadata.name} {.metadata.annotations.etcd\.version} {.metadata.deletionTimestamp}/{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' |
    awk 'BEGIN { srand('"$RANDOM"') } $3 == "/True" { members[++n] = $1 " " $2 } END { if (n) print members[int(rand() * n) + 1] }'
}

# etcdctl inside of a member: `etcdctl_in POD VERSION put key value`. Nothing has to be installed or reachable from here.
etcdctl_in() {
  local pod=$1 version=$2
  shift 2
  case $version in
    # Up to 3.3 etcdctl speaks the old API unless told otherwise; those images have a shell to tell it with.
    3.[0-3].*) kube exec "$pod" --container=etcd -- sh -c 'ETCDCTL_API=3 exec etcdctl "$@"' etcdctl "$@" ;;
    *) kube exec "$pod" --container=etcd -- etcdctl "$@" ;;
  esac
}

# The same in whatever member is ready: `etcdctl_of_cluster member list`.
etcdctl_of_cluster() {
  local pod version
  read -r pod version <<< "$(random_member)"
  if [[ -z $pod ]]; then
    echo "No member of $NAMESPACE/$CLUSTER is ready." >&2
    return 1
  fi
  etcdctl_in "$pod" "$version" "$@"
}
