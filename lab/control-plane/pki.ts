// The lab's certificates: one CA, one key pair per component, and the key that signs service account tokens.
import * as fs from "node:fs";
import * as path from "node:path";
import { run } from "../machine/command.ts";
import { hostAddress, kubernetesService, type LabConfig, labNodes } from "../config.ts";

interface Identity {
  /** Names the files: NAME.crt and NAME.key. */
  readonly name: string;
  readonly commonName: string;
  readonly group?: string;
  readonly hosts?: readonly string[];
}

export const pkiPath = (lab: LabConfig, file: string): string => path.join(lab.state, "pki", file);

/** Every certificate of the lab. The user and group names are those of Kubernetes' built-in role bindings. */
function identities(lab: LabConfig): Identity[] {
  const service = "kubernetes.default.svc";
  const host = `IP:${hostAddress(lab)}`;
  return [
    {
      name: "apiserver",
      commonName: "kube-apiserver",
      hosts: [
        ...["kubernetes", "kubernetes.default", service, `${service}.cluster.local`].map((name) => `DNS:${name}`),
        host,
        `IP:${kubernetesService(lab)}`,
      ],
    },
    { name: "admin", commonName: "admin", group: "system:masters" },
    { name: "kubelet-client", commonName: "kube-apiserver-kubelet-client", group: "system:masters" },
    { name: "controller-manager", commonName: "system:kube-controller-manager", hosts: [host] },
    { name: "scheduler", commonName: "system:kube-scheduler", hosts: [host] },
    { name: "kube-proxy", commonName: "system:kube-proxy" },
    { name: "coredns", commonName: "coredns" },
    ...labNodes(lab).map((node) => ({
      name: node.name,
      commonName: `system:node:${node.name}`,
      group: "system:nodes",
      hosts: [`DNS:${node.name}`, `IP:${node.address}`],
    })),
  ];
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650"];

async function issue(lab: LabConfig, identity: Identity): Promise<void> {
  const group = identity.group === undefined ? "" : `/O=${identity.group}`;
  const extensions = ["keyUsage=critical,digitalSignature", "extendedKeyUsage=serverAuth,clientAuth"];
  extensions.push("basicConstraints=critical,CA:FALSE");
  if (identity.hosts !== undefined) extensions.push(`subjectAltName=${identity.hosts.join(",")}`);
  const subject = ["-subj", `${group}/CN=${identity.commonName}`];
  const authority = ["-CA", pkiPath(lab, "ca.crt"), "-CAkey", pkiPath(lab, "ca.key")];
  const files = ["-keyout", pkiPath(lab, `${identity.name}.key`), "-out", pkiPath(lab, `${identity.name}.crt`)];
  const added = extensions.flatMap((extension) => ["-addext", extension]);
  await run("openssl", ["req", "-x509", ...newKey, ...subject, ...authority, ...added, ...files]);
}

export async function makePki(lab: LabConfig): Promise<void> {
  fs.mkdirSync(pkiPath(lab, ""), { recursive: true, mode: 0o700 });
  const serviceAccounts = async (): Promise<void> => {
    const key = pkiPath(lab, "service-accounts.key");
    await run("openssl", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key]);
    await run("openssl", ["pkey", "-in", key, "-pubout", "-out", pkiPath(lab, "service-accounts.pub")]);
  };
  const authority = async (): Promise<void> => {
    const files = ["-keyout", pkiPath(lab, "ca.key"), "-out", pkiPath(lab, "ca.crt")];
    await run("openssl", ["req", "-x509", ...newKey, "-subj", `/CN=${lab.name}-ca`, ...files]);
    await Promise.all(identities(lab).map((identity) => issue(lab, identity)));
  };
  await Promise.all([serviceAccounts(), authority()]);
}
