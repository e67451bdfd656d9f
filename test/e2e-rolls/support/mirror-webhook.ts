// A real admission webhook, as of a registry mirror: it rewrites the images of all pods of one namespace, whoever makes or
// changes them. It runs in the process of the test, which the API server of the lab shares the machine with.
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { waitFor } from "../../../lab/progress.ts";
import { podSecurity } from "../../../src/cluster/objects/member-pod.ts";
import { Pod } from "../../../src/kube/objects/kinds.ts";
import { containerSecurity } from "../../../src/worker/pod.ts";
import { makeAuthority, makeLeaf } from "../../../src/tls/make.ts";
import { kube, patience } from "../../e2e/support/environment.ts";
import { apply, kubectl } from "../../support/kubectl.ts";

export interface MirrorWebhook extends AsyncDisposable {
  /** The names of the pods that it rewrote when they were made, in order. Who got no answer in time makes one again. */
  readonly made: readonly string[];
}

interface Review {
  readonly request: { readonly uid: string; readonly operation: "CREATE" | "UPDATE"; readonly object: Pod };
}

/** From here on `rewrite` says what becomes of each image in the namespace. `tried`: one that it changes. */
export async function mirrorWebhook(
  namespace: string,
  rewrite: (image: string) => string,
  tried: string,
): Promise<MirrorWebhook> {
  const made: string[] = [];
  const authority = await makeAuthority("webhook", Date.now());
  const leaf = { commonName: "webhook", names: ["localhost"], ips: ["127.0.0.1"], use: "server" } as const;
  const { cert, key } = await makeLeaf(authority, leaf, Date.now());
  const answer = ({ request: { uid, operation, object } }: Review): object => {
    const patch = (object.spec?.containers ?? []).flatMap(({ image = "" }, index) => {
      const value = rewrite(image);
      return value === image ? [] : [{ op: "replace", path: `/spec/containers/${index}/image`, value }];
    });
    if (patch.length > 0 && operation === "CREATE") made.push(object.metadata?.name ?? "");
    const encoded = Buffer.from(JSON.stringify(patch)).toString("base64");
    const response = { uid, allowed: true, ...(patch.length > 0 && { patchType: "JSONPatch", patch: encoded }) };
    return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response };
  };
  const server = createServer({ cert, key }, (request, reply) => {
    void text(request).then((body) => reply.end(JSON.stringify(answer(JSON.parse(body)))));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const name = `mirror-${namespace}`;
  await apply({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name },
    webhooks: [
      {
        name: "mirror.lab.local",
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        failurePolicy: "Fail",
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE", "UPDATE"] }],
        clientConfig: {
          url: `https://127.0.0.1:${port}/`,
          caBundle: Buffer.from(authority.cert).toString("base64"),
        },
      },
    ],
  });
  await untilInForce(namespace, tried, made);
  return {
    made,
    async [Symbol.asyncDispose]() {
      await kubectl("delete", "mutatingwebhookconfiguration", name);
      server.closeAllConnections();
      server.close();
    },
  };
}

/** An API server takes a moment to notice a configuration; until then pods are made as they are asked for. */
async function untilInForce(namespace: string, image: string, made: string[]): Promise<void> {
  const name = "webhook-tried";
  const container = { name: "etcd", image, securityContext: containerSecurity };
  const pod = { metadata: { namespace, name }, spec: { securityContext: podSecurity(), containers: [container] } };
  await waitFor(
    "the webhook to be in force",
    async () => {
      await kube.create(Pod, pod, { dryRun: true });
      return made.includes(name) || undefined;
    },
    { timeoutMs: patience },
  );
  made.length = 0;
}
