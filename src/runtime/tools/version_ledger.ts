import type { Digest } from "../../core/digest.ts";
import type { VersionLedger } from "./effects.ts";

/** Files whose version is remembered; the ones seen longest ago are forgotten and must be reread. */
const MAX_FILES = 10_000;

/** Remembers, for one attempt, which version of each file the model has seen or Fluzo has written. */
export function versionLedger(): VersionLedger {
  const seen = new Map<string, Digest>();
  const written = new Map<string, Digest | "absent">();
  const note: VersionLedger["note"] = (path, version) => {
    if (version === "absent") seen.delete(path);
    else remember(seen, path, version);
  };
  return {
    seen: (path) => seen.get(path) ?? null,
    note,
    wrote: (path, version) => {
      note(path, version);
      remember(written, path, version);
    },
    isOwn: (path, version) => written.get(path) === version,
  };
}

function remember<V>(map: Map<string, V>, path: string, version: V): void {
  map.delete(path);
  map.set(path, version);
  const oldest = map.keys().next();
  if (map.size > MAX_FILES && !oldest.done) map.delete(oldest.value);
}
