// `make plugin`: leaves the kubectl plugin as one file, dist/kubectl-etcd.
import * as path from "node:path";
import { bundlePlugin, tree } from "./images/bundle.ts";
import { say } from "./progress.ts";

const file = path.relative(tree, await bundlePlugin());
say(`${file} is ready. Put it into a folder of your PATH, and kubectl has it: sudo install ${file} /usr/local/bin/`);
