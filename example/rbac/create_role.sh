#!/usr/bin/env bash
# Grants the operator what it needs: fills in the templates beside this script and applies them. Safe to run again.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: example/rbac/create_role.sh [options]

  --role-name NAME          (or $ROLE_NAME)          default: etcd-operator
  --role-binding-name NAME  (or $ROLE_BINDING_NAME)  default: etcd-operator, outside of the namespace "default"
                                                     etcd-operator-<the operator's namespace>
  --namespace NAMESPACE     (or $NAMESPACE)          where the operator runs; default: the one kubectl uses now
  --namespaced              a Role for that namespace alone, for an operator with -create-crd=false
  --operator-namespace NAMESPACE                     with --namespaced: where the operator runs, if it is another one
  --help                    this text
TEXT
}

fail() {
  echo "create_role.sh: $1" >&2
  exit 2
}

role=${ROLE_NAME:-} binding=${ROLE_BINDING_NAME:-} namespace=${NAMESPACE:-} home='' scope=cluster-
while (($# > 0)); do
  [[ $1 != --*=* ]] || set -- "${1%%=*}" "${1#*=}" "${@:2}"
  case $1 in
    --role-name | --role-binding-name | --namespace | --operator-namespace) (($# > 1)) || fail "$1 needs a value; --help tells more." ;;
    --namespaced) scope='' && shift && continue ;;
    --help | -h) usage && exit ;;
    *) fail "\"$1\" is not an option; --help lists them." ;;
  esac
  case $1 in
    --role-name) role=$2 ;;
    --role-binding-name) binding=$2 ;;
    --namespace) namespace=$2 ;;
    --operator-namespace) home=$2 ;;
  esac
  shift 2
done

command -v kubectl > /dev/null || fail 'kubectl is missing.'
namespace=${namespace:-$(kubectl config view --minify --output 'jsonpath={..namespace}')}
namespace=${namespace:-default}
home=${home:-$namespace}
[[ -z $scope || $home == "$namespace" ]] || fail '--operator-namespace goes with --namespaced; --namespace says it otherwise.'
role=${role:-etcd-operator}
# The binding of an operator in one namespace must not take the permissions of one in another.
if [[ -z $binding ]]; then
  binding=etcd-operator
  [[ $home == default ]] || binding=etcd-operator-$home
fi
for name in "$role" "$binding" "$namespace" "$home"; do
  [[ $name =~ ^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$ ]] || fail "\"$name\" is not a name that Kubernetes takes."
done

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for template in "${scope}role-template.yaml" "${scope}role-binding-template.yaml" lease-role-template.yaml; do
  sed -e "s/<ROLE_NAME>/$role/g" -e "s/<ROLE_BINDING_NAME>/$binding/g" -e "s/<NAMESPACE>/$namespace/g" \
    -e "s/<OPERATOR_NAMESPACE>/$home/g" \
    "$folder/$template" | kubectl apply --filename=-
done
