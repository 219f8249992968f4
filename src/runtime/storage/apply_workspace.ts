import type { DomainEvent } from "../../core/events/event.ts";
import { type Applying, NO_OWNER, type Owner } from "./_applying.ts";

type WorkspaceEvent = Extract<
  DomainEvent,
  { type: "workspace_recorded" | "session_created" | "config_recorded" }
>;

/** Workspace identity, sessions and configuration snapshots: what tasks are built on. */
export function applyWorkspace(at: Applying, event: WorkspaceEvent): Owner {
  const { statements, sequence, wallMs } = at;
  switch (event.type) {
    case "workspace_recorded": {
      // A workspace that was moved keeps its id and its row; the events keep the history.
      statements.run(
        `INSERT INTO projects
           (id, root, device, inode, birth_time_ms, recorded_wall_ms, recorded_sequence)
         VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET root = excluded.root, device = excluded.device,
           inode = excluded.inode, birth_time_ms = excluded.birth_time_ms,
           recorded_wall_ms = excluded.recorded_wall_ms,
           recorded_sequence = excluded.recorded_sequence`,
        event.workspaceId,
        event.root,
        event.device,
        event.inode,
        event.birthTimeMs,
        wallMs,
        sequence,
      );
      return NO_OWNER;
    }
    case "session_created": {
      statements.run(
        `INSERT INTO sessions (id, project_id, title, created_wall_ms, created_sequence)
         VALUES (?, (SELECT id FROM projects ORDER BY recorded_sequence DESC LIMIT 1), ?, ?, ?)`,
        event.sessionId,
        event.title,
        wallMs,
        sequence,
      );
      return { ...NO_OWNER, sessionId: event.sessionId };
    }
    case "config_recorded": {
      statements.run(
        `INSERT INTO config_snapshots
           (id, fingerprint, settings, recorded_wall_ms, recorded_sequence)
         VALUES (?, ?, ?, ?, ?)`,
        event.snapshotId,
        event.fingerprint,
        JSON.stringify(event.settings ?? null),
        wallMs,
        sequence,
      );
      return NO_OWNER;
    }
  }
}
