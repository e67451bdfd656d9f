// Service accounts and their tokens, as a pod gets them: permissions in one namespace, and a folder with a token that can
// be replaced and really ended.
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import type { LabConfig } from "../../lab/config.ts";
import { apiUrl } from "../../lab/control-plane/kubeconfig.ts";
import { pkiPath } from "../../lab/control-plane/pki.ts";
import { waitFor } from "../../lab/progress.ts";
import { connectKube, type KubeClient } from "../../src/kube/client/client.ts";
import { ApiError } from "../../src/kube/client/errors.ts";
import { Secret, ServiceAccount } from "../../src/kube/objects/kinds.ts";
import { apply } from "../support/kubectl.ts";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface Token {
  readonly text: string;
  /** Ends it: the API server takes it no longer once this Secret is gone. */
  readonly secret: string;
}

export async function makeServiceAccount(namespace: string, name: string, rules: readonly Rule[]): Promise<void> {
  const rbac = "rbac.authorization.k8s.io";
  const metadata = { namespace, name };
  await apply(
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: rbac, kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", namespace, name }],
    },
  );
}

export const userOf = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`;

/** A token that lives as long as a Secret made for it. */
export async function issueToken(admin: KubeClient, namespace: string, name: string): Promise<Token> {
  await waitFor(`service account ${name}`, () => admin.get(ServiceAccount, { namespace, name }), { timeoutMs: 60_000 });
  const secret = await admin.create(Secret, { metadata: { namespace, generateName: `${name}-token-` } });
  const bound = { apiVersion: "v1", kind: "Secret", name: secret.metadata?.name, uid: secret.metadata?.uid };
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { boundObjectRef: bound } };
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const { status } = (await admin.raw("POST", path, request)) as { status: { token: string } };
  return { text: status.token, secret: secret.metadata?.name ?? "" };
}

/** Resolves when the API server refuses the token, which it remembers to be good for some seconds more. */
export async function endToken(lab: LabConfig, admin: KubeClient, namespace: string, token: Token): Promise<void> {
  await admin.delete(Secret, { namespace, name: token.secret });
  const ca = readFileSync(pkiPath(lab, "ca.crt"));
  const authorization = (): string => `Bearer ${token.text}`;
  using bearer = connectKube({ credentials: { server: apiUrl(lab), tls: () => ({ ca }), authorization, forget() {} } });
  await waitFor("the ended token to be refused", () => isRefused(bearer), { timeoutMs: 60_000, everyMs: 200 });
}

async function isRefused(bearer: KubeClient): Promise<true | undefined> {
  try {
    await bearer.raw("GET", "/api");
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 401) return true;
    throw error;
  }
}

/** What a kubelet mounts into a pod. */
export class MountedCredentials {
  readonly directory: string = mkdtempSync(path.join(tmpdir(), "service-account-"));

  constructor(lab: LabConfig) {
    copyFileSync(pkiPath(lab, "ca.crt"), path.join(this.directory, "ca.crt"));
  }

  /** Whole or not at all, as a kubelet does it. */
  put(token: Token): void {
    const next = path.join(this.directory, "next");
    writeFileSync(next, token.text);
    renameSync(next, path.join(this.directory, "token"));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
