// What the contract suite stands on: the kinds that it uses, among them one of its own with status and a schema,
// and the means to wait for what a server does in its own time.
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { KubeApi } from "../../client/api.ts";
import { ApiError } from "../../client/errors.ts";
import { ConfigMap, CustomResourceDefinition, Deployment, Lease, Pod, Secret, Service } from "../../objects/kinds.ts";
import type { Key, Kind, KubeObject, ObjectMeta } from "../../objects/objects.ts";
import type { FakeKind } from "../fake-api/resources.ts";
import { fields, keyed, object } from "../fake-api/shapes.ts";

/** Where a contract suite runs: an API, and a namespace of it that is there and empty. */
export interface Ground {
  api: KubeApi;
  namespace: string;
  close(): Promise<void>;
}

export interface Widget extends KubeObject {
  spec: { size?: number; note?: string; tags?: Record<string, string>; steps?: string[] };
  status?: { size?: number; conditions?: { type: string; status: string; note?: string }[] };
}

const group = "contract.test.invalid";

export const Widget: Kind<Widget> = { group, version: "v1", kind: "Widget", plural: "widgets", namespaced: true };

export const Unknown: Kind<KubeObject> = { group, version: "v1", kind: "Gone", plural: "gones", namespaced: true };

const text = { type: "string" };
const widgetSchema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", minimum: 0 },
        note: text,
        tags: { type: "object", additionalProperties: text },
        steps: { type: "array", items: text },
      },
    },
    status: {
      type: "object",
      properties: {
        size: { type: "integer" },
        conditions: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["type"],
          items: { type: "object", required: ["type"], properties: { type: text, status: text, note: text } },
        },
      },
    },
  },
};

export const widgetCrd: CustomResourceDefinition = {
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { kind: "Widget", plural: "widgets", singular: "widget" },
    versions: [
      Object.assign(
        { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: widgetSchema } },
        { subresources: { status: {} } },
      ),
    ],
  },
};

const registeredWidget: FakeKind<Widget> = {
  kind: Widget,
  status: true,
  shape: object({ status: fields({ conditions: keyed(["type"]) }) }),
  validate: ({ spec }) => ((spec?.size ?? 0) < 0 ? "should be greater than or equal to 0" : undefined),
};

/** What an in-memory API must know to run the contract. */
export const contractKinds: readonly FakeKind[] = [
  { kind: ConfigMap },
  { kind: CustomResourceDefinition },
  { kind: Deployment },
  { kind: Lease },
  { kind: Pod },
  { kind: Secret },
  { kind: Service },
  registeredWidget,
];

/** What a writer says of an object; who owns which field is the server's to say. */
type AskedMeta = Omit<ObjectMeta, "managedFields">;

/** One test's corner of the ground: names and a label of its own, so that tests can run side by side. */
export interface Corner {
  readonly api: KubeApi;
  readonly namespace: string;
  /** Every object of the corner carries it. */
  readonly label: string;
  readonly meta: (name: string, more?: AskedMeta) => AskedMeta & { name: string; namespace: string };
  readonly key: (name: string) => Key;
  readonly selection: () => { namespace: string; labelSelector: string };
}

let corners = 0;

export function cornerOf({ api, namespace }: Ground): Corner {
  corners += 1;
  // The namespace is in it because an earlier run's may still be going away.
  const label = `${namespace}-${corners}`;
  return {
    api,
    namespace,
    label,
    meta: (name, more = {}) => ({
      ...more,
      name: `${label}-${name}`,
      namespace,
      labels: { corner: label, ...more.labels },
    }),
    key: (name) => ({ namespace, name: `${label}-${name}` }),
    selection: () => ({ namespace, labelSelector: `corner=${label}` }),
  };
}

export function versionOf(object: KubeObject): string {
  const version = object.metadata?.resourceVersion;
  assert.ok(version !== undefined && version !== "", "the object has a resource version");
  return version;
}

export function uidOf(object: KubeObject): string {
  const uid = object.metadata?.uid;
  assert.ok(uid !== undefined && uid !== "", "the object has a uid");
  return uid;
}

/** Fails unless the promise is refused with this code and reason; gives the error for more questions. */
export async function refused(promise: Promise<unknown>, code: number, reason: string): Promise<ApiError> {
  const error = await promise.then(
    (value) => assert.fail(`expected ${code} ${reason}, got ${JSON.stringify(value)?.slice(0, 300)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw error;
  assert.deepEqual({ code: error.code, reason: error.reason }, { code, reason }, error.message);
  return error;
}

/** Asks until the answer is not undefined. Failures of `read` count as not yet, and the last is reported at the end. */
export async function waitFor<T>(what: string, read: () => Promise<T | undefined>, withinMs = 60_000): Promise<T> {
  const until = performance.now() + withinMs;
  let last: unknown;
  while (performance.now() < until) {
    try {
      const found = await read();
      if (found !== undefined) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await delay(50);
  }
  return assert.fail(`${what} did not happen in ${withinMs} ms; last error: ${String(last)}`);
}

/** Resolves when the object is gone. */
export async function gone(api: KubeApi, kind: Kind<KubeObject>, key: Key): Promise<void> {
  await waitFor(`${kind.kind} ${key.name} being gone`, async () => {
    try {
      await api.get(kind, key);
      return undefined;
    } catch (error) {
      if (error instanceof ApiError && error.reason === "NotFound") return true;
      throw error;
    }
  });
}
