// Where a backup goes, as a URL on the command line, and what that means in the spec of an EtcdBackup.
import type { EtcdBackupSpec } from "../../api/etcd-backup/etcd-backup.ts";
import { listed } from "../line/parse.ts";
import { UsageError } from "../line/usage-error.ts";

interface StoreFlags {
  readonly secret?: string;
  readonly endpoint?: string;
  readonly region?: string;
}

type Store = Pick<EtcdBackupSpec, "storageType" | "s3" | "abs" | "gcs" | "oss" | "pvc">;

interface Scheme {
  /** What follows the scheme, for help. */
  readonly form: string;
  of(path: string, flags: StoreFlags): Store;
}

const endpoint = ({ endpoint }: StoreFlags) => (endpoint === undefined ? {} : { endpoint });

const schemes: Readonly<Record<string, Scheme>> = {
  s3: {
    form: "BUCKET/KEY",
    of: (path, flags) => ({
      storageType: "S3",
      s3: {
        path,
        ...(flags.secret !== undefined && { awsSecret: flags.secret }),
        ...(flags.region !== undefined && { region: flags.region }),
        // Servers other than AWS seldom have a name for each bucket.
        ...(flags.endpoint !== undefined && { endpoint: flags.endpoint, forcePathStyle: true }),
      },
    }),
  },
  abs: {
    form: "CONTAINER/KEY",
    of: (path, flags) => ({
      storageType: "ABS",
      abs: { path, ...(flags.secret !== undefined && { absSecret: flags.secret }), ...endpoint(flags) },
    }),
  },
  gs: {
    form: "BUCKET/KEY",
    of: (path, flags) => ({
      storageType: "GCS",
      gcs: { path, ...(flags.secret !== undefined && { gcpSecret: flags.secret }), ...endpoint(flags) },
    }),
  },
  oss: {
    form: "BUCKET/KEY",
    of(path, flags) {
      if (flags.secret === undefined) throw new UsageError("oss:// needs --secret: OSS has no other login.");
      return { storageType: "OSS", oss: { path, ossSecret: flags.secret, ...endpoint(flags) } };
    },
  },
  pvc: {
    form: "CLAIM/PATH",
    of(path) {
      const slash = path.indexOf("/");
      return { storageType: "PVC", pvc: { claimName: path.slice(0, slash), path: path.slice(slash + 1) } };
    },
  },
};

export function storeOf(url: string, flags: StoreFlags): Store {
  const { scheme = "", path = "" } = /^(?<scheme>[a-z0-9]+):\/\/(?<path>[^/]+\/.+)$/.exec(url)?.groups ?? {};
  const known = Object.hasOwn(schemes, scheme) ? schemes[scheme] : undefined;
  if (known === undefined) {
    const forms = Object.entries(schemes).map(([name, { form }]) => `${name}://${form}`);
    throw new UsageError(`--to is ${listed(forms)}, not "${url}".`);
  }
  return known.of(path, flags);
}
