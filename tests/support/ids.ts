import { formatId, type Id, type IdKind, type IdSource } from "../../src/core/ids.ts";

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

/** Ids that no other call of this process or of another one makes. */
export function newId<K extends IdKind>(kind: K): Id<K> {
  return formatId(kind, 1, crypto.getRandomValues(new Uint8Array(16)));
}
