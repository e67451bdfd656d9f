// What went wrong, as a sentence for the user that says what to do. Nobody sees a stack. Errors are distinguished by code,
// never by text, except the answer of an API server that refuses for a missing permission: it has no other form.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { ApiError } from "../../kube/client/errors.ts";
import { CredentialsError } from "../../kube/credentials/credentials.ts";
import { printable } from "../../kube/objects/printable.ts";
import { TransportError } from "../../transport/errors.ts";
import { UsageError } from "../line/usage-error.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { Refusal } from "./refusal.ts";

/** Also of errors that did not come from Kubernetes, as of a program that gives credentials. */
export const sentenceOf = (error: unknown): string => hideSecrets(printable(said(error)));

function said(error: unknown): string {
  if (error instanceof UsageError || error instanceof Refusal) return error.message;
  if (error instanceof CredentialsError) return `${sentence(error.message)} --kubeconfig and --context choose another.`;
  if (error instanceof ApiError) return ofApi(error);
  if (error instanceof TransportError) return ofTransport(error);
  return `${sentence(error instanceof Error ? error.message : String(error))} This is unexpected: please report it, with what you typed.`;
}

function ofApi(error: ApiError): string {
  if (error.reason === "Forbidden") return forbidden(error.message);
  if (error.code === 401)
    return "The API server does not accept your credentials: log in again, or choose another context with --context.";
  if (error.reason === "NotFound") return notFound(error.message);
  if (error.reason === "Conflict")
    return `${sentence(error.message)} Another client changed the object first: run the command again.`;
  if (error.reason === "AlreadyExists") return `${sentence(error.message)} Choose another name, or delete it first.`;
  return sentence(error.message);
}

interface Lacking {
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly group: string;
  /** Empty: of the whole cluster. */
  readonly namespace: string;
}

const forbiddenForm =
  /User "(?<user>[^"]*)" cannot (?<verb>\S+) resource "(?<resource>[^"]*)" in API group "(?<group>[^"]*)"(?: in the namespace "(?<namespace>[^"]*)")?/;

/** Undefined when the refusal is not about a permission, as that of an admission webhook. */
export function lackingIn(message: string): Lacking | undefined {
  const groups = forbiddenForm.exec(message)?.groups;
  if (groups === undefined) return undefined;
  const { user = "", verb = "", resource = "", group = "", namespace = "" } = groups;
  return { user, verb, resource, group, namespace };
}

/** As in `list pods in the namespace default`. */
export function lackingInWords({ verb, resource, group, namespace }: Lacking): string {
  const what = group === "" ? resource : `${resource}.${group}`;
  return `${verb} ${what}${namespace === "" ? " at the cluster scope" : ` in the namespace ${namespace}`}`;
}

function forbidden(message: string): string {
  const lacking = lackingIn(message);
  if (lacking === undefined) return sentence(message);
  const { user, namespace } = lacking;
  const role = namespace === "" ? "ClusterRole" : "Role";
  const where = namespace === "" ? "" : ` -n ${namespace}`;
  const check = `kubectl auth can-i --list${where}`;
  return `You are ${user} and cannot ${lackingInWords(lacking)}. Ask an administrator for a ${role} with this permission (docs/kubectl-etcd.md has one), or choose another context with --context. \`${check}\` lists what you can do.`;
}

/** An object has its name in quotation marks; where the kind itself is not known there is none. */
function notFound(message: string): string {
  const { resource, name } = /^(?<resource>\S+) "(?<name>[^"]+)" not found$/.exec(message)?.groups ?? {};
  if (resource === undefined || name === undefined)
    return `This Kubernetes cluster has no EtcdCluster CRD: install the operator first (docs/install.md), or choose another context with --context.`;
  const [plural = resource] = resource.split(".");
  if (plural === "namespaces") return `There is no namespace ${name}: choose another with -n.`;
  const isCluster = plural === EtcdCluster.plural;
  const listed = isCluster ? "`kubectl etcd status` lists the existing ones" : `\`kubectl get ${plural}\` lists them`;
  return `There is no ${isCluster ? "EtcdCluster" : plural.replace(/s$/, "")} ${name} in this namespace: ${listed}; -n chooses another namespace.`;
}

function ofTransport(error: TransportError): string {
  const advice = {
    unreachable: "Check that it runs and that you can reach it, or choose another context with --context.",
    connectTimeout: "Check the network between you and it, or choose another context with --context.",
    tls: "Check the certificates in your kubeconfig.",
    unprocessed: "Run the command again.",
    deadline: "Run the command again; if it happens again, check the API server.",
    dead: "Run the command again; if it happens again, check the API server.",
    tooLarge: "Ask for less: name one namespace with -n instead of all of them.",
    broken: "Run the command again; if it happens again, check the API server.",
  }[error.failure];
  return `The API server does not answer: ${sentence(error.message)} ${advice}`;
}

const sentence = (text: string): string => {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
};
