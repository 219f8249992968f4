import type { Digest } from "../../core/digest.ts";
import type { VersionLedger } from "./effects.ts";

/** Files whose version is remembered; the ones seen longest ago are forgotten and must be reread. */
const MAX_FILES = 10_000;

/** Remembers, for one task, which version of each file the model has seen. */
export function versionLedger(): VersionLedger {
  const versions = new Map<string, Digest>();
  return {
    seen: (path) => versions.get(path) ?? null,
    note: (path, version) => {
      versions.delete(path);
      if (version === "absent") return;
      versions.set(path, version);
      const oldest = versions.keys().next();
      if (versions.size > MAX_FILES && !oldest.done) versions.delete(oldest.value);
    },
  };
}
