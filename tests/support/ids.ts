import { formatId, type Id, type IdKind, type IdSource } from "../../src/core/ids.ts";
import { randomIds } from "../../src/runtime/random_ids.ts";
import { systemClock } from "../../src/runtime/system_clock.ts";

/** Ids that count up: the same run gives the same ids. */
export function countingIds(): IdSource {
  let count = 0;
  return {
    next: (kind) => {
      count++;
      const random = new Uint8Array(16);
      for (let i = 15, rest = count; rest > 0; i--, rest = Math.floor(rest / 32)) {
        random[i] = rest % 32;
      }
      return formatId(kind, 0, random);
    },
  };
}

/** A new id of a kind, like no other of the test run. */
export function newId<K extends IdKind>(kind: K): Id<K> {
  return randomIds(systemClock).next(kind);
}
