// Where backups are kept: the fields that EtcdBackup and EtcdRestore share. Those of etcd-operator 0.9 have their names;
// the newer ones are optional.
import { type Credential, patternOf, refusalOf } from "../../recipients/recipients.ts";
import { matches, nameOf } from "../rules.ts";
import { boolean, type CompleteOf, defaulted, object, oneOf, required, type Rule, string } from "../schema/schema.ts";

const storageTypes = ["S3", "ABS", "GCS", "OSS", "PVC"] as const;
export type StorageType = (typeof storageTypes)[number];

const secretRule = (path: string): Rule<string> => nameOf(path, "a Secret", "EtcdBackup or EtcdRestore");

const secret = (path: string, description: string) => string(description, { longest: 253, rules: [secretRule(path)] });

const longestPath = 1024;

const objectPath = (field: string, first: string) =>
  required(
    "",
    string(
      `Path in the form \`<${first}>/<key>\`: the ${first} and the object key of the backup, or the prefix of the object keys of a series.`,
      {
        longest: longestPath,
        rules: [
          matches(
            "^[^/]+/[^/].*$",
            `spec.${field}.path must be the ${first}, a slash and the key, for example my-${first}/etcd/backup.`,
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
  secret(
    `spec.${field}.caSecret`,
    "Name of the Secret with `ca.crt`, for an endpoint whose certificate is signed by a private CA.",
  );

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
  "Amazon S3, or any S3-compatible store.",
  {
    path: objectPath("s3", "bucket"),
    awsSecret: defaulted(
      "",
      secret(
        "spec.s3.awsSecret",
        "Name of the Secret with `credentials` and `config`, files in the format of the AWS CLI with the profile `default`. If unset, the worker uses the identity of its ServiceAccount or node.",
      ),
    ),
    endpoint: endpoint(
      "s3",
      "URL of the S3 service. If unset, the endpoint of AWS. An endpoint outside AWS requires `awsSecret`. With `http://`, others can read backups in transit unless `encryption` is set.",
    ),
    forcePathStyle: defaulted(
      false,
      boolean("Whether to use URLs of the form `https://endpoint/bucket` instead of `https://bucket.endpoint`."),
    ),
    region: string("Region of the bucket. It takes precedence over the region in `config`.", {
      longest: 64,
      rules: [matches("^[A-Za-z0-9-]+$", "spec.s3.region must be the name of a region, for example eu-central-1.")],
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
        "Name of the Secret with `storage-account`, `storage-key` and, outside of the public cloud, `cloud`. If unset, the worker uses workload identity, with `account`.",
      ),
    ),
    account: string("Name of the storage account, if no Secret names it.", {
      longest: 64,
      rules: [matches("^[a-z0-9-]+$", "spec.abs.account must be the name of a storage account, without its domain.")],
    }),
    endpoint: endpoint(
      "abs",
      "URL of the Blob service. If unset, the endpoint of the account in its cloud. An endpoint outside Azure requires `absSecret`. With `http://`, others can read backups in transit unless `encryption` is set.",
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
        "Name of the Secret with `access-token` or `credentials.json`. If unset, the worker uses the identity of its ServiceAccount or node.",
      ),
    ),
    endpoint: endpoint(
      "gcs",
      "URL of the storage service. If unset, the endpoint of Google. Any other endpoint gets no token except an `access-token` from `gcpSecret`, and only over https.",
    ),
    caSecret: caSecret("gcs"),
  },
  { rules: [recipientRule("gcpSecret", "named", { t: "token" }, "spec.gcs.endpoint with spec.gcs.gcpSecret")] },
);

const defaultOssEndpoint = "https://oss-cn-hangzhou.aliyuncs.com";

const oss = object("Alibaba Cloud OSS, through its S3-compatible API. The bucket must exist.", {
  path: objectPath("oss", "bucket"),
  ossSecret: required("", secret("spec.oss.ossSecret", "Name of the Secret with `accessKeyID` and `accessKeySecret`.")),
  endpoint: defaulted(defaultOssEndpoint, endpoint("oss", "URL of the OSS endpoint in the region of the bucket.")),
  caSecret: caSecret("oss"),
});

const pvc = object("PersistentVolumeClaim to keep backups in.", {
  claimName: required(
    "",
    string("Name of the PersistentVolumeClaim. Workers mount it, so their nodes must be able to attach its volume.", {
      longest: 253,
      rules: [nameOf("spec.pvc.claimName", "a PersistentVolumeClaim", "EtcdBackup or EtcdRestore")],
    }),
  ),
  path: required(
    "",
    string(
      "Path of the backup file inside the volume, or the prefix of the file names of a series, for example `etcd/backup`.",
      {
        longest: longestPath,
        rules: [
          matches(
            "^[^/].*[^/]$|^[^/]$",
            "spec.pvc.path must be a path inside the volume, without a leading or trailing slash.",
          ),
        ],
      },
    ),
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
    says: `spec.${typeField} is ${type}, but spec.${fieldOf[type]} is missing: set it to say where the backup is kept.`,
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
