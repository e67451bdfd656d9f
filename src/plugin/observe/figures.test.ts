import assert from "node:assert/strict";
import { test } from "node:test";
import { figuresIn } from "./figures.ts";

test("the metrics that people ask for are read", () => {
  const text = `# HELP etcd_server_is_leader Whether or not this member is a leader. 1 if is, 0 otherwise.
etcd_server_is_leader 1
etcd_server_is_learner 0
etcd_server_has_leader 1
etcd_mvcc_db_total_size_in_bytes 2.097152e+07
etcd_mvcc_db_total_size_in_use_in_bytes 1.6384e+04
etcd_server_quota_backend_bytes 2.147483648e+09
etcd_server_proposals_committed_total 42
etcd_server_proposals_applied_total 41
etcd_server_version{server_version="3.6.16"} 1
etcd_server_id{server_id="8e9e05c52164694d"} 1
go_goroutines 100
`;
  assert.deepEqual(figuresIn(text), {
    isLeader: true,
    isLearner: false,
    hasLeader: true,
    dbSize: 20_971_520,
    dbInUse: 16_384,
    quota: 2_147_483_648,
    committed: 42,
    applied: 41,
    version: "3.6.16",
  });
});

test("an old etcd has the size under another name, and what is no number is passed over", () => {
  const text = "etcd_debugging_mvcc_db_total_size_in_bytes 24576\netcd_server_proposals_applied_total NaN\n";
  assert.deepEqual(figuresIn(text), { dbSize: 24_576 });
});
