// All that comes from Kubernetes, from pods or from kubectl enters here, without characters that a terminal obeys: no command
// has to think of them, and colours are put around the text afterwards.
import type { KubeApi } from "../../kube/client/api.ts";
import { printable, printableValue } from "../../kube/objects/printable.ts";
import type { Kubectl } from "./kubectl.ts";
import type { Reach } from "./reach.ts";

export const entered = (reach: Reach): Reach => ({
  api: enteredApi(reach.api),
  namespace: reach.namespace,
  context: reach.context,
  logEnd: (pod, options) => clean(reach.logEnd(pod, options)),
  metrics: (pod, port) => clean(reach.metrics(pod, port)),
  [Symbol.dispose]: () => reach[Symbol.dispose](),
});

/** What it prints by itself, it cleans itself. */
export const enteredKubectl = (kubectl: Kubectl): Kubectl => ({
  run: (args, output) => kubectl.run(args, output),
  read: (args) => clean(kubectl.read(args)),
});

const enteredApi = (api: KubeApi): KubeApi => ({
  get: (kind, key, options) => clean(api.get(kind, key, options)),
  list: (kind, options) => clean(api.list(kind, options)),
  watch: (kind, options, onEvent) => clean(api.watch(kind, options, (event) => onEvent(printableValue(event)))),
  create: (kind, object, options) => clean(api.create(kind, object, options)),
  replace: (kind, object, options) => clean(api.replace(kind, object, options)),
  apply: (kind, object, options) => clean(api.apply(kind, object, options)),
  mergePatch: (kind, key, patch, options) => clean(api.mergePatch(kind, key, patch, options)),
  log: (pod, options) => clean(api.log(pod, options)),
  delete: (kind, key, options) => clean(api.delete(kind, key, options)),
});

async function clean<T>(answer: Promise<T>): Promise<T> {
  try {
    return printableValue(await answer);
  } catch (error) {
    // The same error, as others tell it apart by its class and fields.
    if (error instanceof Error) error.message = printable(error.message);
    throw error;
  }
}
