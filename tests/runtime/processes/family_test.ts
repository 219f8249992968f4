import assert from "node:assert/strict";
import type { ProcessRow } from "../../../src/runtime/linux/process_table.ts";
import { type FamilyEvidence, findFamily } from "../../../src/runtime/processes/family.ts";

const SELF = 10;
const LEADER = { pid: 100, startTicks: "500" };

function row(pid: number, parent: number, changes: Partial<ProcessRow> = {}): ProcessRow {
  return {
    pid,
    parent,
    group: pid,
    session: pid,
    state: "running",
    startTicks: "600",
    name: "x",
    ...changes,
  };
}

const leader = row(100, SELF, { startTicks: "500" });

function family(rows: readonly ProcessRow[], evidence: Partial<FamilyEvidence> = {}): number[] {
  return findFamily(rows, {
    self: SELF,
    leader: LEADER,
    known: new Map([[100, "500"]]),
    marked: () => false,
    strayed: () => false,
    ...evidence,
  }).map(({ pid }) => pid).sort((a, b) => a - b);
}

Deno.test("findFamily() follows parents, in whatever order the rows come", () => {
  const rows = [row(104, 103), row(103, 102), row(102, 100), leader, row(105, 1), row(106, SELF)];
  assert.deepEqual(family(rows), [100, 102, 103, 104]);
});

Deno.test("findFamily() takes what was adopted from the session or the group", () => {
  const rows = [
    row(101, SELF, { session: 100, group: 101 }),
    row(102, SELF, { group: 100 }),
    row(103, 101),
    // Of the session's number, but not adopted: the number may be another's by now.
    row(104, 1, { session: 100, group: 100 }),
  ];
  assert.deepEqual(family(rows), [101, 102, 103]);
});

Deno.test("findFamily() takes what carries the marker, with its children", () => {
  const rows = [row(101, 1), row(102, 101), row(103, 1)];
  assert.deepEqual(family(rows, { marked: ({ pid }) => pid === 101 }), [101, 102]);
});

Deno.test("findFamily() never takes a number that was given out again", () => {
  // The leader's and a member's numbers belong to later processes; both have children.
  const rows = [
    row(100, 1, { startTicks: "900" }),
    row(101, 100, { startTicks: "901" }),
    row(102, 1, { startTicks: "900" }),
    row(103, 102, { startTicks: "901" }),
  ];
  const known = new Map([[100, "500"], [102, "600"]]);
  assert.deepEqual(family(rows, { known }), []);
  assert.deepEqual(family([row(102, 1)], { known }), [102]);
});

Deno.test("findFamily() never takes what is older than the command", () => {
  const old = { startTicks: "499" };
  const rows = [leader, row(101, 100, old), row(102, SELF, { ...old, session: 100 })];
  assert.deepEqual(family(rows, { marked: () => true, strayed: () => true }), [100]);
});

Deno.test("findFamily() takes a stray child of this process only where that is proof", () => {
  const rows = [row(101, SELF), row(102, 101), row(103, 1)];
  assert.deepEqual(family(rows), []);
  assert.deepEqual(family(rows, { strayed: ({ pid }) => pid === 101 }), [101, 102]);
  assert.deepEqual(family(rows, { strayed: () => true }), [101, 102]);
});

Deno.test("findFamily() reads no marker of a process that has ended or is a member already", () => {
  const asked: number[] = [];
  const rows = [leader, row(101, 100), row(102, 1, { state: "ended" }), row(103, 1)];
  family(rows, {
    marked: ({ pid }) => {
      asked.push(pid);
      return false;
    },
  });
  assert.deepEqual(asked, [103]);
});
