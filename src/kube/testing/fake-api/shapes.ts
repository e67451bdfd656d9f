// How server-side apply merges the fields of the built-in kinds: which lists are keyed and by what, which values are
// taken as a whole. What is not named here is the default: an object merges field by field, a list is one value.

export type Shape =
  | { readonly t: "fields"; readonly fields: Readonly<Record<string, Shape>> }
  | { readonly t: "whole" }
  | { readonly t: "set" }
  | {
      readonly t: "keyed";
      readonly keys: readonly string[];
      /** Values that a key has when an item leaves it out. */
      readonly absent: Readonly<Record<string, string>>;
      readonly item: Shape;
    };

export const whole: Shape = { t: "whole" };
const set: Shape = { t: "set" };
export const plain: Shape = { t: "fields", fields: {} };
export const fields = (inner: Record<string, Shape>): Shape => ({ t: "fields", fields: inner });
export const keyed = (keys: readonly string[], item: Shape = plain, absent: Record<string, string> = {}): Shape => ({
  t: "keyed",
  keys,
  absent,
  item,
});

const conditions: Shape = fields({ conditions: keyed(["type"]) });

const metadata: Shape = fields({
  finalizers: set,
  managedFields: whole,
  ownerReferences: keyed(["uid"], whole),
});

/** The shape of an object: its metadata is alike in all kinds. */
export const object = (inner: Record<string, Shape>): Shape => fields({ metadata, ...inner });

const reference = whole;

const container: Shape = fields({
  env: keyed(
    ["name"],
    fields({
      valueFrom: fields({
        configMapKeyRef: reference,
        fieldRef: reference,
        resourceFieldRef: reference,
        secretKeyRef: reference,
      }),
    }),
  ),
  ports: keyed(["containerPort", "protocol"], plain, { protocol: "TCP" }),
  volumeDevices: keyed(["devicePath"]),
  volumeMounts: keyed(["mountPath"]),
});

const podSpec: Shape = fields({
  containers: keyed(["name"], container),
  ephemeralContainers: keyed(["name"], container),
  hostAliases: keyed(["ip"]),
  imagePullSecrets: keyed(["name"], whole),
  initContainers: keyed(["name"], container),
  nodeSelector: whole,
  resourceClaims: keyed(["name"]),
  schedulingGates: keyed(["name"]),
  topologySpreadConstraints: keyed(["topologyKey", "whenUnsatisfiable"], fields({ labelSelector: whole })),
  volumes: keyed(["name"]),
});

const podTemplate: Shape = fields({ metadata, spec: podSpec });

export const pod: Shape = object({
  spec: podSpec,
  status: fields({
    conditions: keyed(["type"]),
    podIPs: keyed(["ip"]),
    resourceClaimStatuses: keyed(["name"]),
  }),
});

export const workload: Shape = object({ spec: fields({ selector: whole, template: podTemplate }), status: conditions });

export const service: Shape = object({
  spec: fields({ ports: keyed(["port", "protocol"], plain, { protocol: "TCP" }), selector: whole }),
  status: conditions,
});

export const withConditions: Shape = object({ status: conditions });

export const claim: Shape = object({ spec: fields({ selector: whole, dataSource: whole }), status: conditions });

export const disruptionBudget: Shape = object({ spec: fields({ selector: whole }), status: conditions });

export const node: Shape = object({
  spec: fields({ podCIDRs: set }),
  status: fields({ addresses: keyed(["type"]), conditions: keyed(["type"]) }),
});
