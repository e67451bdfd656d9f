#!/usr/bin/env bash
# Shared by the other scripts of this folder, which source it. To choose a cluster, set these first:
#   CLUSTER=my-etcd NAMESPACE=default ACKNOWLEDGED=/tmp/acknowledged.txt
# Source it into your shell (`source example/experiment/set_env.sh`) to use `etcdctl_of_cluster`.

CLUSTER=${CLUSTER:-example-etcd-cluster}
NAMESPACE=${NAMESPACE:-$(kubectl config view --minify --output 'jsonpath={..namespace}')}
NAMESPACE=${NAMESPACE:-default}
# kubectl in the namespace of the cluster, with a timeout for each request.
kube() {
  kubectl --namespace="$NAMESPACE" --request-timeout=20s "$@"
}

# One line for each acknowledged write: key, space, value. The file name has the uid of the cluster, because a cluster that
# was recreated under the same name does not have the writes of the old one.
ACKNOWLEDGED=${ACKNOWLEDGED:-${TMPDIR:-/tmp}/acknowledged-$NAMESPACE-$CLUSTER-$(kube get etcdcluster "$CLUSTER" --output 'jsonpath={.metadata.uid}').txt}
# All keys of the experiment start with this.
PREFIX=experiment/
export CLUSTER NAMESPACE ACKNOWLEDGED PREFIX

# A random ready member: one line with its name and its etcd version.
random_member() {
  kube get pods --selector="app=etcd,etcd_cluster=$CLUSTER" --output 'jsonpath={range .items[*]}{.metadata.name} {.metadata.annotations.etcd\.version} {.metadata.deletionTimestamp}/{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' |
    awk 'BEGIN { srand('"$RANDOM"') } $3 == "/True" { members[++n] = $1 " " $2 } END { if (n) print members[int(rand() * n) + 1] }'
}

# etcdctl inside a member: `etcdctl_in POD VERSION put key value`. Nothing has to be installed or reachable from here.
etcdctl_in() {
  local pod=$1 version=$2
  shift 2
  case $version in
    # Up to 3.3 etcdctl uses the v2 API by default; those images have a shell to set the variable with.
    3.[0-3].*) kube exec "$pod" --container=etcd -- sh -c 'ETCDCTL_API=3 exec etcdctl "$@"' etcdctl "$@" ;;
    *) kube exec "$pod" --container=etcd -- etcdctl "$@" ;;
  esac
}

# The same in any ready member: `etcdctl_of_cluster member list`.
etcdctl_of_cluster() {
  local pod version
  read -r pod version <<< "$(random_member)"
  if [[ -z $pod ]]; then
    echo "No member of $NAMESPACE/$CLUSTER is ready." >&2
    return 1
  fi
  etcdctl_in "$pod" "$version" "$@"
}
