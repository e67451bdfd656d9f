// Where backups are kept: the fields that EtcdBackup and EtcdRestore share. Those of etcd-operator 0.9 have their names;
// the newer ones are optional.
import { type Credential, patternOf, refusalOf } from "../../recipients/recipients.ts";
import { matches, nameOf } from "../rules.ts";
import { boolean, type CompleteOf, defaulted, object, oneOf, required, type Rule, string } from "../schema/schema.ts";

export const storageTypes = ["S3", "ABS", "GCS", "OSS", "PVC"] as const;
export type StorageType = (typeof storageTypes)[number];

const secretRule = (path: string): Rule<string> => nameOf(path, "a Secret", "EtcdBackup or EtcdRestore");

const secret = (path: string, description: string) => string(description, { longest: 253, rules: [secretRule(path)] });

const longestPath = 1024;

const objectPath = (field: string, first: string) =>
  required(
    "",
    string(
      `\`<${first}>/<key>\`: the ${first} and the key of the object in it, or what the keys of a series begin with.`,
      {
        longest: longestPath,
        rules: [
          matches(
            "^[^/]+/[^/].*$",
            `spec.${field}.path must be the ${first}, a slash and the key, as in my-${first}/etcd/backup.`,
          ),
        ],
      },
    ),
  );

const endpoint = (field: string, description: string) =>
  string(description, {
    longest: 1024,
    rules: [
      matches(
        "^https?://[^/?#@ ]+(/[^?#@ ]*)?$",
        `spec.${field}.endpoint must be a URL that begins with http:// or https://, without user and password.`,
      ),
    ],
  });

const caSecret = (field: string) =>
  secret(`spec.${field}.caSecret`, "Secret with `ca.crt`, where the endpoint has a certificate of a private CA.");

/** Whether the endpoint may get what is sent with the Secret, or without it. What is in the Secret only the worker sees. */
function recipientRule<K extends string>(
  secretField: K,
  secret: "named" | "absent",
  credential: Credential,
  says: string,
): Rule<{ readonly endpoint?: string } & { readonly [name in K]?: string }> {
  const pattern = patternOf(credential);
  const expression = new RegExp(pattern);
  const named = `(has(self.${secretField}) && self.${secretField} != '')`;
  return {
    says: `${says}: ${refusalOf(credential)}`,
    cel: `${secret === "named" ? "!" : ""}${named} || !has(self.endpoint) || self.endpoint == '' || self.endpoint.matches(r'${pattern}')`,
    holds({ endpoint = "", [secretField]: name }) {
      const is = name === undefined || name === "" ? "absent" : "named";
      return is !== secret || endpoint === "" || expression.test(endpoint);
    },
  };
}

const s3 = object(
  "S3, and everything that speaks it.",
  {
    path: objectPath("s3", "bucket"),
    awsSecret: defaulted(
      "",
      secret(
        "spec.s3.awsSecret",
        "Secret with `credentials` and `config`, files as the AWS command line writes them, profile `default`. Absent: the identity of the worker's ServiceAccount or node.",
      ),
    ),
    endpoint: endpoint(
      "s3",
      "Absent: AWS. Another than AWS's own needs `awsSecret`. With `http://` backups can be read on the way, unless `encryption` is set.",
    ),
    forcePathStyle: defaulted(false, boolean("`https://endpoint/bucket` instead of `https://bucket.endpoint`.")),
    region: string("Wins over the one in `config`.", {
      longest: 64,
      rules: [matches("^[A-Za-z0-9-]+$", "spec.s3.region must be the name of a region, as in eu-central-1.")],
    }),
    caSecret: caSecret("s3"),
  },
  {
    rules: [
      recipientRule("awsSecret", "absent", { t: "identity", of: "aws" }, "spec.s3.endpoint needs spec.s3.awsSecret"),
    ],
  },
);

const abs = object(
  "Azure Blob Storage.",
  {
    path: objectPath("abs", "container"),
    absSecret: defaulted(
      "",
      secret(
        "spec.abs.absSecret",
        "Secret with `storage-account`, `storage-key` and, outside of the public cloud, `cloud`. Absent: workload identity, with `account`.",
      ),
    ),
    account: string("The storage account, where no Secret names it.", {
      longest: 64,
      rules: [matches("^[a-z0-9-]+$", "spec.abs.account must be the name of a storage account, without its domain.")],
    }),
    endpoint: endpoint(
      "abs",
      "Absent: that of the account in its cloud. Another than Azure's own needs `absSecret`. With `http://` backups can be read on the way, unless `encryption` is set.",
    ),
    caSecret: caSecret("abs"),
  },
  {
    rules: [
      recipientRule(
        "absSecret",
        "absent",
        { t: "identity", of: "azure" },
        "spec.abs.endpoint needs spec.abs.absSecret",
      ),
    ],
  },
);

const gcs = object(
  "Google Cloud Storage.",
  {
    path: objectPath("gcs", "bucket"),
    gcpSecret: defaulted(
      "",
      secret(
        "spec.gcs.gcpSecret",
        "Secret with `access-token` or `credentials.json`. Absent: the identity of the worker's ServiceAccount or node.",
      ),
    ),
    endpoint: endpoint(
      "gcs",
      "Absent: Google's. Another gets no token but an `access-token` of `gcpSecret`, and that only over https.",
    ),
    caSecret: caSecret("gcs"),
  },
  { rules: [recipientRule("gcpSecret", "named", { t: "token" }, "spec.gcs.endpoint with spec.gcs.gcpSecret")] },
);

export const defaultOssEndpoint = "https://oss-cn-hangzhou.aliyuncs.com";

const oss = object("Alibaba Cloud OSS, through its S3 form. The bucket must exist.", {
  path: objectPath("oss", "bucket"),
  ossSecret: required("", secret("spec.oss.ossSecret", "Secret with `accessKeyID` and `accessKeySecret`.")),
  endpoint: defaulted(defaultOssEndpoint, endpoint("oss", "The endpoint of the bucket's region.")),
  caSecret: caSecret("oss"),
});

const pvc = object("A volume.", {
  claimName: required(
    "",
    string("The PersistentVolumeClaim. Workers mount it, so it must be one that their nodes can attach.", {
      longest: 253,
      rules: [nameOf("spec.pvc.claimName", "a PersistentVolumeClaim", "EtcdBackup or EtcdRestore")],
    }),
  ),
  path: required(
    "",
    string("The file in it, or what the names of a series begin with, as in `etcd/backup`.", {
      longest: longestPath,
      rules: [
        matches("^[^/].*[^/]$|^[^/]$", "spec.pvc.path must be a path inside the volume, without a slash at its ends."),
      ],
    }),
  ),
});

/** Inline in the spec, as etcd-operator 0.9 had it. */
export const storeFields = { s3, abs, gcs, oss, pvc } as const;

export const storageType = (description: string) => oneOf(description, storageTypes);

/** The stores of a spec with its defaults. */
export interface Stores {
  readonly s3?: CompleteOf<typeof s3>;
  readonly abs?: CompleteOf<typeof abs>;
  readonly gcs?: CompleteOf<typeof gcs>;
  readonly oss?: CompleteOf<typeof oss>;
  readonly pvc?: CompleteOf<typeof pvc>;
}

const fieldOf: Readonly<Record<StorageType, keyof Stores>> = {
  S3: "s3",
  ABS: "abs",
  GCS: "gcs",
  OSS: "oss",
  PVC: "pvc",
};

/** `typeField`: `storageType` or `backupStorageType`. The schema has one rule for each type, so that each has its sentence. */
export function storeRules<K extends string>(typeField: K): Rule<Stores & { readonly [name in K]?: StorageType }>[] {
  return storageTypes.map((type) => ({
    says: `spec.${typeField} is ${type} and spec.${fieldOf[type]} is missing: say there where the backup is kept.`,
    cel: `!has(self.${typeField}) || self.${typeField} != '${type}' || has(self.${fieldOf[type]})`,
    holds: (spec) => spec[typeField] !== type || spec[fieldOf[type]] !== undefined,
  }));
}

const folderIsNoKey = (path: string): boolean => path.split("/").every((part) => part !== ".." && part !== ".");

/** What CEL does not say well. `spec`: whatever else is in it. */
export function storeProblems(spec: Stores): string[] {
  return Object.values(fieldOf).flatMap((field) => {
    const path = spec[field]?.path;
    return path === undefined || folderIsNoKey(path)
      ? []
      : [`spec.${field}.path must not contain . or .. between slashes: name the folder itself.`];
  });
}
