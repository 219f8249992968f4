import { type Digest, parseDigest } from "../../core/digest.ts";
import {
  type ConsentItem,
  consentItems,
  fingerprintText,
} from "../../core/settings/consent_items.ts";
import type { Settings } from "../../core/settings/registry.ts";
import { type NotPrivate, readPrivateFile, writePrivateFile } from "./private_file.ts";

/** What makes a working tree itself: a copy of it has another identity. */
export interface WorkspaceIdentity {
  readonly root: string;
  readonly device: string;
  readonly inode: string;
  readonly birthTimeMs: string;
}

export type ConsentStatus =
  | { readonly type: "granted"; readonly fingerprint: Digest }
  | { readonly type: "missing"; readonly fingerprint: Digest }
  /** Agreed to before, but `changed` differs now. */
  | {
    readonly type: "changed";
    readonly fingerprint: Digest;
    readonly changed: readonly string[];
  }
  /** Plain HTTP to another machine, which needs an agreement of its own. */
  | { readonly type: "insecure"; readonly fingerprint: Digest; readonly origin: string }
  /** The record cannot be trusted. */
  | { readonly type: "unusable"; readonly fingerprint: Digest; readonly problem: NotPrivate };

/** Version of the record's format. */
const RECORD_VERSION = 1;

/** Largest record that is read, in bytes. */
const MAX_RECORD_BYTES = 1 << 20;

interface ConsentRecord {
  readonly version: number;
  readonly identity: WorkspaceIdentity;
  readonly fingerprint: string;
  readonly items: readonly ConsentItem[];
  readonly insecureOrigins: readonly string[];
}

/**
 * The user's agreements, one private file a workspace, outside of every repository. A record is
 * bound to the identity of the working tree and to a fingerprint of everything in the configuration
 * that matters for security: a copied repository or a changed destination carries no agreement.
 */
export class ConsentStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Whether the user agreed to these settings in this workspace. */
  async status(identity: WorkspaceIdentity, settings: Settings): Promise<ConsentStatus> {
    const fingerprint = await fingerprintOf(settings);
    const record = await this.#read(identity);
    if (record !== null && "reason" in record) {
      return { type: "unusable", fingerprint, problem: record };
    }
    if (record === null) return { type: "missing", fingerprint };
    if (record.fingerprint !== fingerprint) {
      return { type: "changed", fingerprint, changed: differences(record.items, settings) };
    }
    const origin = insecureOrigins(settings).find((candidate) =>
      !record.insecureOrigins.includes(candidate)
    );
    if (origin !== undefined) return { type: "insecure", fingerprint, origin };
    return { type: "granted", fingerprint };
  }

  /** Records the agreement to exactly these settings. */
  async grant(
    identity: WorkspaceIdentity,
    { settings, insecureOrigins: accepted }: {
      readonly settings: Settings;
      readonly insecureOrigins: readonly string[];
    },
  ): Promise<void> {
    const record: ConsentRecord = {
      version: RECORD_VERSION,
      identity,
      fingerprint: await fingerprintOf(settings),
      items: consentItems(settings),
      insecureOrigins: accepted,
    };
    await writePrivateFile(await this.#path(identity), `${JSON.stringify(record, null, 2)}\n`);
  }

  /** Takes the agreement back. False when there was none. */
  async revoke(identity: WorkspaceIdentity): Promise<boolean> {
    try {
      await Deno.remove(await this.#path(identity));
      return true;
    } catch (failure) {
      if (failure instanceof Deno.errors.NotFound) return false;
      throw failure;
    }
  }

  async #read(identity: WorkspaceIdentity): Promise<ConsentRecord | NotPrivate | null> {
    const path = await this.#path(identity);
    const read = await readPrivateFile(path, MAX_RECORD_BYTES);
    if (read === null || "reason" in read) return read;
    const record = parseRecord(read.text);
    if (record === null) return { path, reason: "it is damaged: revoke and grant again" };
    // The file name already depends on the identity; this also catches a record put there by hand.
    return JSON.stringify(record.identity) === JSON.stringify(identity) ? record : null;
  }

  async #path(identity: WorkspaceIdentity): Promise<string> {
    const { root, device, inode, birthTimeMs } = identity;
    const key = await sha256(JSON.stringify([root, device, inode, birthTimeMs]));
    return `${this.#folder}/${key}.json`;
  }
}

/** Origins of plain-HTTP servers that are not this machine. */
export function insecureOrigins(settings: Settings): readonly string[] {
  const urls = Object.values(settings.models).map((model) =>
    model.provider === "openai_compatible" ? model.base_url : model.endpoint
  );
  if (settings.telemetry.export_enabled) urls.push(settings.telemetry.otlp_endpoint);
  const origins = urls.map((url) => new URL(url))
    .filter((url) => url.protocol === "http:" && !isLoopback(url.hostname))
    .map((url) => url.origin);
  return [...new Set(origins)].sort();
}

/** Whether a host of a URL is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** The digest of everything in the settings that the user agrees to. */
export async function fingerprintOf(settings: Settings): Promise<Digest> {
  return await sha256(fingerprintText(settings));
}

async function sha256(text: string): Promise<Digest> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const digest = parseDigest(
    Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join(""),
  );
  if (digest === null) throw new TypeError("SHA-256 is not 32 bytes");
  return digest;
}

function differences(before: readonly ConsentItem[], settings: Settings): readonly string[] {
  const old = new Map(before.map(({ key, value }) => [key, JSON.stringify(value)]));
  const now = new Map(consentItems(settings).map(({ key, value }) => [key, JSON.stringify(value)]));
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter((key) =>
    old.get(key) !== now.get(key)
  );
  return changed.sort();
}

function parseRecord(text: string): ConsentRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const record = value as Partial<ConsentRecord>;
  const usable = record.version === RECORD_VERSION && typeof record.fingerprint === "string" &&
    typeof record.identity === "object" && Array.isArray(record.items) &&
    Array.isArray(record.insecureOrigins);
  return usable ? record as ConsentRecord : null;
}
