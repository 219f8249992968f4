import { formatId, type WorkspaceId } from "../../core/ids.ts";
import type { WorkspaceIdentity } from "../consent/consent_store.ts";

/**
 * What makes a working tree itself: its path, device, inode and birth time. A copy, a restored
 * backup and a folder put in its place all differ in at least one of them.
 */
export async function workspaceIdentity(root: string): Promise<WorkspaceIdentity> {
  const info = await Deno.stat(root);
  return {
    root,
    device: String(info.dev),
    inode: String(info.ino ?? 0),
    birthTimeMs: String(info.birthtime?.getTime() ?? 0),
  };
}

/** The stable id of a workspace: equal identities give equal ids. */
export async function workspaceId(identity: WorkspaceIdentity): Promise<WorkspaceId> {
  const { root, device, inode, birthTimeMs } = identity;
  const text = JSON.stringify([root, device, inode, birthTimeMs]);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return formatId("workspace", Number(birthTimeMs), new Uint8Array(hash));
}
