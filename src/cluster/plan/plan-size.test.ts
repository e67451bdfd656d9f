// What is done about the number of members.
import { added, check, five, going, learner, onNodeOf, three, voter, young } from "../testing/plan-table.ts";

check("fewer members", [
  [
    "the newest follower goes",
    { members: [...three, voter("d", { pod: young })], size: 3 },
    ["remove d", "delete d"],
    0,
  ],
  [
    "one that shares a node goes before a newer one that has its own",
    { size: 3, members: [...three, voter("d", { pod: onNodeOf("b") }), voter("e", { pod: young })] },
    ["remove d", "delete d"],
  ],
  [
    "one that does not serve goes before one that shares a node",
    { size: 3, members: [...three, voter("d", { pod: onNodeOf("b") }), voter("e", { silent: true })] },
    ["remove e", "delete e"],
  ],
  [
    "the leader stays, whoever shares its node",
    { size: 3, members: [...three, voter("d", { pod: { ...onNodeOf("a"), ...young } })] },
    ["remove d", "delete d"],
  ],
  [
    "never the leader when another will do",
    { size: 2, leader: "c", members: [voter("a"), voter("b"), voter("c", { pod: young })] },
    ["remove b", "delete b"],
  ],
  [
    "one that is away goes before a newer one that serves",
    { size: 2, members: [voter("a"), voter("b", { silent: true }), voter("c", { pod: young })] },
    ["remove b", "delete b"],
  ],
  [
    "learners go first, and together",
    { size: 3, members: [...three, learner("d"), added("e", { pod: undefined })] },
    ["remove e", "remove d", "delete d"],
  ],
  ["from five to one, one after the other", { size: 1, members: five }, ["remove e", "delete e"], 0],
  ["from two to one", { size: 1, members: [voter("a"), voter("b")] }, ["remove b", "delete b"]],
  [
    "no healthy one goes while too few others are",
    {
      size: 4,
      members: [voter("a"), voter("b"), voter("c", { silent: true }), voter("d", { silent: true }), voter("e")],
      strangers: ["c", "d"],
    },
    [],
    2000,
  ],
  [
    "a decrease that overtakes an increase takes what was not finished",
    { size: 1, members: [voter("a"), learner("b"), added("c"), added("d", { pod: undefined }), added("e")] },
    ["remove d", "remove e", "delete e", "remove c", "delete c", "remove b", "delete b"],
  ],
  [
    "an increase that overtakes a decrease goes on from what is left",
    { size: 3, members: [voter("a"), voter("b")], orphans: [{ name: "demo-c", ...going }] },
    ["add learner new1", "pod new1"],
  ],
]);

check("more members", [
  ["join one after the other", { size: 7, members: three }, ["add learner new1", "pod new1"]],
  [
    "not while a voter is away that etcd would miss",
    { size: 5, members: [voter("a"), voter("b"), voter("c", { silent: true })] },
    [],
  ],
  [
    "while one of five is away, where etcd does not mind",
    { size: 6, members: [...five.slice(0, 4), voter("e", { silent: true })] },
    ["add learner new1", "pod new1"],
  ],
  [
    "not while one of five is away, where etcd minds",
    { size: 6, version: "3.5.20", members: [...five.slice(0, 4), voter("e", { silent: true })] },
    [],
  ],
  [
    "what the oldest member cannot do, the cluster cannot",
    { members: [voter("a", { version: "3.3.27" }), voter("b")] },
    ["add voter new1", "pod new1"],
  ],
]);
