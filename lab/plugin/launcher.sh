#!/bin/sh
# Runs the plugin with the Node of this machine. krew calls this file through a link, and the plugin lies beside the file itself.
file=$0
while [ -L "$file" ]; do
  target=$(readlink "$file")
  case $target in
    /*) file=$target ;;
    *) file=$(dirname "$file")/$target ;;
  esac
done
if command -v node > /dev/null; then
  exec node "$(dirname "$file")/kubectl-etcd.cjs" "$@"
fi
echo "kubectl etcd needs Node.js OLDEST or newer. Install it from https://nodejs.org or with: brew install node" >&2
exit 127
