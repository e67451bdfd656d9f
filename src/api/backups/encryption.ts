// Encryption on the side of the client: the store never sees what is in a backup.
import { nameOf } from "../rules.ts";
import { type CompleteOf, object, required, string } from "../schema/schema.ts";

export const encryption = object(
  "Encrypts backups before they leave the worker, with AES-256-GCM. Absent: not encrypted.",
  {
    secret: required(
      "",
      string(
        "Secret with keys of 32 bytes, raw, in base64 or in hexadecimal. The name of an entry is the id of its key; keep old keys as long as there are backups made with them.",
        { longest: 253, rules: [nameOf("spec.encryption.secret", "a Secret", "EtcdBackup or EtcdRestore")] },
      ),
    ),
    keyId: string("Which key new backups are encrypted with. Absent: the last by name.", { longest: 253 }),
  },
);

export type EncryptionPolicy = CompleteOf<typeof encryption>;
