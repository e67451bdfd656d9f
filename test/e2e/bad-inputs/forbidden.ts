// Pods that the API server refuses: by quota, LimitRange, Pod Security, pod validation, or a reference to a missing object.
import { kubectl, apply } from "../../support/kubectl.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { untilQuota } from "../support/quota.ts";
import { badCase } from "./bad-case.ts";

const forbidden = "Change spec.pod so that the namespace takes the pod, or change what forbids it";

export function forbiddenPods(): void {
  badCase({
    what: "root in a restricted namespace",
    name: "root",
    spec: { pod: { securityContext: { runAsUser: 0 } } },
    reason: "Refused",
    says: ['violates PodSecurity "restricted:latest"', forbidden],
    correct: { pod: { securityContext: null } },
  });
  badCase({
    what: "a missing PriorityClass",
    name: "priority",
    onlyInMatrix: true,
    spec: { pod: { priorityClassName: "no-such-class" } },
    reason: "Refused",
    says: ["no PriorityClass with name no-such-class was found", forbidden],
    correct: { pod: { priorityClassName: null } },
  });
  badCase({
    what: "a missing ServiceAccount",
    name: "account",
    onlyInMatrix: true,
    spec: { pod: { serviceAccountName: "absent" } },
    reason: "Refused",
    says: ['serviceaccount "absent" not found', "or create what is missing"],
    correct: ({ namespace }: Key) => kubectl("create", "serviceaccount", "absent", `--namespace=${namespace}`),
  });
  badCase({
    what: "a quota of no pods",
    name: "quota",
    prepare: ({ namespace }) => untilQuota(namespace, "none", "pods=0"),
    reason: "Refused",
    says: ["exceeded quota: none", forbidden],
    correct: ({ namespace }: Key) => kubectl("delete", "quota", "none", `--namespace=${namespace}`),
  });
  badCase({
    what: "a CPU request below the LimitRange",
    name: "limits",
    onlyInMatrix: true,
    spec: { pod: { resources: { requests: { cpu: "10m" } } } },
    prepare: ({ namespace }) =>
      apply({
        apiVersion: "v1",
        kind: "LimitRange",
        metadata: { name: "least", namespace },
        spec: { limits: [{ type: "Container", min: { cpu: "20m" } }] },
      }),
    reason: "Refused",
    says: ["minimum cpu usage per Container is 20m", forbidden],
    correct: { pod: { resources: { requests: { cpu: "30m" } } } },
  });
  badCase({
    what: "a toleration with an unknown operator",
    name: "toleration",
    spec: { pod: { tolerations: [{ key: "any", operator: "Perhaps" }] } },
    reason: "Refused",
    says: ['Unsupported value: "Perhaps"', "Correct spec.pod.tolerations[0].operator."],
    correct: { pod: { tolerations: [{ key: "any", operator: "Exists" }] } },
  });
  badCase({
    what: "an affinity with a field of the wrong type",
    name: "affinity",
    onlyInMatrix: true,
    spec: { pod: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: "yes" } } } },
    reason: "Refused",
    says: ["affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution", "in spec.pod."],
    correct: { pod: { affinity: null } },
  });
  badCase({
    what: "a topology spread with maxSkew 0",
    name: "skew",
    onlyInMatrix: true,
    spec: {
      pod: {
        topologySpreadConstraints: [
          { maxSkew: 0, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "DoNotSchedule" },
        ],
      },
    },
    reason: "Refused",
    says: ["must be greater than zero", "Correct spec.pod.topologySpreadConstraints[0].maxSkew."],
    correct: { pod: { topologySpreadConstraints: null } },
  });
  badCase({
    what: "an invalid environment variable name",
    name: "variable-name",
    onlyInMatrix: true,
    spec: { pod: { etcdEnv: [{ name: "A=B", value: "c" }] } },
    reason: "Refused",
    says: ['"A=B"', "Correct spec.pod.etcdEnv[0].name."],
    correct: { pod: { etcdEnv: null } },
  });
}
