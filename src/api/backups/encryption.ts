// Client-side encryption: the store never sees what is in a backup, and cannot replace it unnoticed.
import { nameOf } from "../rules.ts";
import { boolean, type CompleteOf, defaulted, object, required, string } from "../schema/schema.ts";

const secret = required(
  "",
  string(
    "Name of the Secret with the encryption keys: each entry is a key of 32 bytes, raw or as base64 or hexadecimal, and its name is the ID of the key. Keep an old key as long as there are backups made with it.",
    { longest: 253, rules: [nameOf("spec.encryption.secret", "a Secret", "EtcdBackup or EtcdRestore")] },
  ),
);

/** The field of an EtcdBackup. */
export const encryption = object(
  "Client-side encryption with AES-256-GCM, before backups leave the worker. If unset, backups are not encrypted.",
  {
    secret,
    keyId: string("ID of the key that encrypts new backups. If unset, the last key by name.", { longest: 253 }),
  },
);

/** The field of an EtcdRestore. */
export const decryption = object(
  "Decryption of the backup, and encryption of the snapshot that is saved before a cluster is replaced. A backup is refused if it is not encrypted, was copied from another object key, or belongs to another cluster than the EtcdBackup's. If unset, the encryption of the EtcdBackup that `backup` names applies; without `backup`, only unencrypted backups can be read.",
  {
    secret,
    keyId: string(
      "ID of the key that encrypts the snapshot saved before a cluster is replaced. If unset, the last key by name. The backup itself names the key that decrypts it.",
      { longest: 253 },
    ),
    allowUnencrypted: defaulted(
      false,
      boolean(
        "Whether to accept a backup that is not encrypted, such as one from before encryption was turned on. Anyone who can write to the store could have put it there.",
      ),
    ),
    originalKey: string(
      "Object key that the backup had when it was encrypted, without the bucket, or the prefix of the object keys of its series. Set it for a backup that was copied or renamed since. If unset, the backup must still have its original object key.",
      { longest: 1024 },
    ),
  },
);

/** The fields of either. */
export type ReadPolicy = CompleteOf<typeof encryption> & Partial<CompleteOf<typeof decryption>>;
