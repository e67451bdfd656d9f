// `doctor`: what is wrong, and the command that fixes it.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import type { Command } from "../command.ts";
import { diagnosisOf, diagnosisText, isSerious, withNamespace } from "../doctor/doctor.ts";
import { readAll } from "../permissions.ts";
import { structured } from "../screen/structured.ts";
import { all, observe } from "../observe/observe.ts";

export const doctorCommand: Command = {
  name: "doctor",
  what: "Report what is wrong with clusters, and the command that fixes it.",
  details:
    "Checks conditions, members, places, space, certificates, backups, versions and events. Exits with 1 if a finding is\nserious, for use in pipelines. Read-only.",
  arguments: [{ name: "NAME", is: "optional", of: "cluster" }],
  flags: [{ name: "all-namespaces", short: "A", what: "Without a name: the clusters of all namespaces." }],
  examples: [
    { what: "One cluster", line: "doctor my-etcd" },
    { what: "All clusters, for a pipeline", line: "doctor -A -o json" },
  ],
  permissions: readAll,
  async run({ arguments: [name], flags, output, reach, screen, now }) {
    const there = await reach();
    const selection = flags.has("all-namespaces") ? {} : { namespace: there.namespace };
    const keys =
      name === undefined
        ? (await all(there.api, EtcdCluster, selection)).map(keyOf)
        : [{ namespace: there.namespace, name }];
    const diagnoses = [];
    const isElsewhere = flags.has("namespace") || flags.has("all-namespaces");
    for (const key of keys) {
      const diagnosis = diagnosisOf(await observe(there, key, now()));
      diagnoses.push(isElsewhere ? withNamespace(diagnosis) : diagnosis);
    }
    if (output !== "text") screen.print(structured(output, { clusters: diagnoses }));
    else if (diagnoses.length === 0) screen.print("No EtcdClusters.");
    else screen.print(diagnoses.map((one) => diagnosisText(one, screen)).join("\n\n"));
    return diagnoses.some(isSerious) ? 1 : 0;
  },
};
