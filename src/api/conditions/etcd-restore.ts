// The conditions of an EtcdRestore.
import { conditionsOf, progressing, settled, stalled } from "./reason.ts";

export const etcdRestoreConditions = conditionsOf({
  Complete: {
    trueWhen: "the cluster is ready with the data of the backup",
    reasons: {
      True: { Succeeded: settled({ when: "Revision and hash match those of the backup." }) },
      False: {
        Waiting: progressing({ when: "It has not started: the message says what it waits for." }),
        Checking: progressing({ when: "A worker reads and verifies the backup. Nothing has changed yet." }),
        Saving: progressing({ when: "A worker saves the current data of the cluster." }),
        Restoring: progressing({ when: "The operator creates the cluster from the backup." }),
        Failed: stalled({
          when: "It has failed.",
          whatToDo: "Do what the message says, delete the EtcdRestore and apply it again under the same name.",
          runbook: "EtcdRestoreFailed",
        }),
      },
    },
  },
  Reconciling: {
    trueWhen: "it is in progress, or waits to start",
    reasons: { as: "Complete" },
  },
  Stalled: {
    trueWhen:
      "it has failed, and a person has to apply another one; or it waits until a person confirms it, as the message says",
    reasons: { as: "Complete" },
  },
});
