// The conditions of an EtcdRestore.
import { conditionsOf, progressing, settled, stalled } from "./reason.ts";

export const etcdRestoreConditions = conditionsOf({
  Complete: {
    trueWhen: "the cluster is ready with the data of the backup",
    reasons: {
      True: { Succeeded: settled({ when: "Revision and hash are those of the backup." }) },
      False: {
        Waiting: progressing({ when: "It has not begun: the message says what it waits for." }),
        Checking: progressing({ when: "The backup is read and proved. Nothing is touched." }),
        Saving: progressing({ when: "What the cluster holds is saved." }),
        Restoring: progressing({ when: "The cluster is made from the backup." }),
        Failed: stalled({
          when: "It has ended without success.",
          whatToDo: "Do what the message says, delete the EtcdRestore and apply it again under the same name.",
          runbook: "EtcdRestoreFailed",
        }),
      },
    },
  },
  Reconciling: {
    trueWhen: "it is under way, or waits to begin",
    reasons: { as: "Complete" },
  },
  Stalled: {
    trueWhen:
      "it has failed, and a person applies another one; or it waits until a person confirms it, as the message says",
    reasons: { as: "Complete" },
  },
});
