import type { DomainEvent } from "../../core/events/event.ts";
import { type Applying, NO_OWNER, type Owner, taskOwner } from "./_applying.ts";

/** Artifacts belong to the task that the draft's context names, if it names one. */
export function applyArtifact(
  at: Applying,
  { artifact }: Extract<DomainEvent, { type: "artifact_recorded" }>,
): Owner {
  const owner = at.contextTaskId === null ? NO_OWNER : taskOwner(at, at.contextTaskId);
  at.statements.run(
    `INSERT INTO artifacts (id, task_id, kind, digest, size_bytes, dropped_bytes,
       recorded_wall_ms, recorded_sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    artifact.id,
    owner.taskId,
    artifact.kind,
    artifact.digest,
    artifact.sizeBytes,
    artifact.droppedBytes,
    at.wallMs,
    at.sequence,
  );
  return owner;
}
