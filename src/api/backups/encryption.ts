// Encryption on the side of the client: the store never sees what is in a backup, and cannot exchange it unnoticed.
import { nameOf } from "../rules.ts";
import { boolean, type CompleteOf, defaulted, object, required, string } from "../schema/schema.ts";

const secret = required(
  "",
  string(
    "Secret with keys of 32 bytes, raw, in base64 or in hexadecimal. The name of an entry is the id of its key; keep old keys as long as there are backups made with them.",
    { longest: 253, rules: [nameOf("spec.encryption.secret", "a Secret", "EtcdBackup or EtcdRestore")] },
  ),
);

/** Of an EtcdBackup. */
export const encryption = object(
  "Encrypts backups before they leave the worker, with AES-256-GCM. Absent: not encrypted.",
  {
    secret,
    keyId: string("Which key new backups are encrypted with. Absent: the last by name.", { longest: 253 }),
  },
);

/** Of an EtcdRestore. */
export const decryption = object(
  "Decrypts the backup, and encrypts the snapshot that is saved before a cluster is replaced. A backup that is not encrypted, was copied from another key or is of another cluster than the EtcdBackup's is refused. Absent: that of the EtcdBackup which `backup` names; without one, only backups that are not encrypted can be read.",
  {
    secret,
    keyId: string(
      "Which key the snapshot is encrypted with that is saved before a cluster is replaced. Absent: the last by name. The backup itself names its key.",
      { longest: 253 },
    ),
    allowUnencrypted: defaulted(
      false,
      boolean(
        "Accept a backup that is not encrypted: for one from before encryption was turned on. Whoever can write to the store could have put it there.",
      ),
    ),
    originalKey: string(
      "The key that the backup had when it was encrypted, without the bucket, or what the keys of the series began with: for a backup that was copied or renamed since. Absent: it has the key that it had.",
      { longest: 1024 },
    ),
  },
);

/** Of either. */
export type ReadPolicy = CompleteOf<typeof encryption> & Partial<CompleteOf<typeof decryption>>;
