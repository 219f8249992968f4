/**
 * The database, as the steps that lead to it. Every table is STRICT; `*_wall_ms` are informational,
 * order is always `*_sequence`: the sequence of the event that made the row. JSON columns hold data
 * that is only ever read whole. Time never comes from SQL.
 *
 * A step that was released never changes: a new version is a new step, and an empty database goes
 * through all of them, so that it cannot differ from a migrated one.
 */

/** `PRAGMA application_id`: "Fluz" in ASCII, so that no other program's database is taken over. */
export const APPLICATION_ID = 0x466c757a;

/** Version 1: the journal and its current state. */
const JOURNAL = `
CREATE TABLE journal_head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last_sequence INTEGER NOT NULL
) STRICT;
INSERT INTO journal_head (id, last_sequence) VALUES (1, 0);

CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  root TEXT NOT NULL,
  device TEXT NOT NULL,
  inode TEXT NOT NULL,
  birth_time_ms TEXT NOT NULL,
  recorded_wall_ms INTEGER NOT NULL,
  recorded_sequence INTEGER NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  project_id TEXT REFERENCES projects (id),
  title TEXT NOT NULL,
  created_wall_ms INTEGER NOT NULL,
  created_sequence INTEGER NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  goal TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  limits TEXT NOT NULL,
  consumption TEXT NOT NULL,
  verification TEXT NOT NULL,
  yolo INTEGER NOT NULL CHECK (yolo IN (0, 1)),
  result TEXT,
  created_wall_ms INTEGER NOT NULL,
  updated_wall_ms INTEGER NOT NULL,
  created_sequence INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX tasks_session ON tasks (session_id);
CREATE INDEX tasks_state ON tasks (state);

CREATE TABLE config_snapshots (
  id TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  settings TEXT NOT NULL,
  recorded_wall_ms INTEGER NOT NULL,
  recorded_sequence INTEGER NOT NULL UNIQUE
) STRICT;

CREATE TABLE attempts (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL REFERENCES tasks (id),
  number INTEGER NOT NULL CHECK (number > 0),
  trace_id TEXT NOT NULL,
  instance_id TEXT NOT NULL,
  snapshot_id TEXT NOT NULL REFERENCES config_snapshots (id),
  model TEXT NOT NULL,
  state TEXT NOT NULL,
  error TEXT,
  baseline TEXT,
  started_wall_ms INTEGER NOT NULL,
  ended_wall_ms INTEGER,
  started_sequence INTEGER NOT NULL UNIQUE,
  UNIQUE (task_id, number)
) STRICT;
CREATE UNIQUE INDEX attempts_open ON attempts (task_id) WHERE state = 'open';

CREATE TABLE artifacts (
  id TEXT PRIMARY KEY,
  task_id TEXT REFERENCES tasks (id),
  kind TEXT NOT NULL,
  digest TEXT NOT NULL,
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  dropped_bytes INTEGER NOT NULL CHECK (dropped_bytes >= 0),
  recorded_wall_ms INTEGER NOT NULL,
  recorded_sequence INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX artifacts_task ON artifacts (task_id, recorded_sequence);

CREATE TABLE permission_grants (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL REFERENCES tasks (id),
  key TEXT NOT NULL,
  covers TEXT NOT NULL,
  source TEXT NOT NULL,
  lifetime TEXT NOT NULL,
  state TEXT NOT NULL,
  issued_wall_ms INTEGER NOT NULL,
  issued_sequence INTEGER NOT NULL UNIQUE,
  ended_sequence INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_task ON permission_grants (task_id, issued_sequence);
CREATE INDEX grants_active ON permission_grants (issued_sequence) WHERE state = 'active';

CREATE TABLE operations (
  id TEXT PRIMARY KEY,
  attempt_id TEXT NOT NULL REFERENCES attempts (id),
  task_id TEXT NOT NULL REFERENCES tasks (id),
  call_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  scope TEXT NOT NULL,
  state TEXT NOT NULL,
  evidence TEXT,
  grant_id TEXT UNIQUE REFERENCES permission_grants (id),
  pre_image TEXT REFERENCES artifacts (id),
  before_version TEXT,
  after_version TEXT,
  -- The first process of a command, and what tells it from a later one with its number.
  pid INTEGER,
  start_ticks TEXT,
  boot_id TEXT,
  -- Processes that were seen alive, as JSON; null when none was.
  left_running TEXT,
  outcome TEXT,
  summary TEXT NOT NULL DEFAULT '',
  exit_code INTEGER,
  updated_wall_ms INTEGER NOT NULL,
  requested_sequence INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX operations_task ON operations (task_id, requested_sequence);
CREATE INDEX operations_attempt ON operations (attempt_id);
CREATE INDEX operations_pre_image ON operations (pre_image) WHERE pre_image IS NOT NULL;
CREATE INDEX operations_left ON operations (requested_sequence) WHERE left_running IS NOT NULL;
CREATE INDEX operations_unfinished ON operations (requested_sequence)
  WHERE state IN ('requested', 'authorized', 'intent_committed', 'dispatched');

CREATE TABLE operation_artifacts (
  operation_id TEXT NOT NULL REFERENCES operations (id),
  position INTEGER NOT NULL,
  artifact_id TEXT NOT NULL REFERENCES artifacts (id),
  PRIMARY KEY (operation_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX operation_artifacts_artifact ON operation_artifacts (artifact_id);

CREATE TABLE provider_requests (
  id TEXT PRIMARY KEY,
  attempt_id TEXT NOT NULL REFERENCES attempts (id),
  task_id TEXT NOT NULL REFERENCES tasks (id),
  purpose TEXT NOT NULL,
  model TEXT NOT NULL,
  origin TEXT NOT NULL,
  capacity_id TEXT NOT NULL,
  pool TEXT NOT NULL,
  retry INTEGER NOT NULL CHECK (retry >= 0),
  estimated_input_tokens INTEGER NOT NULL,
  state TEXT NOT NULL,
  body_bytes INTEGER,
  usage TEXT,
  raw_finish TEXT,
  error TEXT,
  reserved_wall_ms INTEGER NOT NULL,
  ended_wall_ms INTEGER,
  reserved_sequence INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX requests_attempt ON provider_requests (attempt_id);
CREATE INDEX requests_task ON provider_requests (task_id);
CREATE INDEX requests_unfinished ON provider_requests (reserved_sequence)
  WHERE state IN ('reserved', 'dispatched');

CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  task_id TEXT NOT NULL REFERENCES tasks (id),
  request_id TEXT REFERENCES provider_requests (id),
  role TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('incomplete', 'complete')),
  -- The message as JSON; null while it is incomplete.
  body TEXT,
  -- UTF-8 bytes of the body, or of the text committed so far.
  content_bytes INTEGER NOT NULL,
  -- UTF-16 units of text committed so far; the next checkpoint begins here.
  committed_units INTEGER NOT NULL,
  started_wall_ms INTEGER NOT NULL,
  started_sequence INTEGER NOT NULL UNIQUE,
  CHECK ((body IS NULL) = (state = 'incomplete'))
) STRICT;
CREATE INDEX messages_session ON messages (session_id, started_sequence);
CREATE INDEX messages_task ON messages (task_id);
CREATE INDEX messages_request ON messages (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX messages_incomplete ON messages (started_sequence) WHERE state = 'incomplete';

-- Checkpoints of incomplete messages. A text is a JSON string: a batch may end inside a surrogate
-- pair, and half of one does not survive as SQL text.
CREATE TABLE message_chunks (
  message_id TEXT NOT NULL REFERENCES messages (id),
  offset_units INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (message_id, offset_units)
) STRICT;

CREATE TABLE observations (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL REFERENCES tasks (id),
  attempt_id TEXT NOT NULL REFERENCES attempts (id),
  request_id TEXT REFERENCES provider_requests (id),
  input TEXT NOT NULL,
  recommendation TEXT,
  actual TEXT,
  label TEXT,
  recorded_wall_ms INTEGER NOT NULL,
  recorded_sequence INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX observations_task ON observations (task_id, recorded_sequence);

CREATE TABLE events (
  sequence INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  schema_version INTEGER NOT NULL,
  type TEXT NOT NULL,
  wall_ms INTEGER NOT NULL,
  session_id TEXT REFERENCES sessions (id),
  task_id TEXT REFERENCES tasks (id),
  attempt_id TEXT REFERENCES attempts (id),
  trace_id TEXT,
  span_id TEXT,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX events_task ON events (task_id, sequence);
CREATE INDEX events_session ON events (session_id);
CREATE INDEX events_attempt ON events (attempt_id);

CREATE TRIGGER events_in_sequence BEFORE INSERT ON events
WHEN NEW.sequence <> (SELECT last_sequence + 1 FROM journal_head)
BEGIN SELECT RAISE(ABORT, 'constraint failed: event sequence must have no gap'); END;
CREATE TRIGGER events_head AFTER INSERT ON events
BEGIN UPDATE journal_head SET last_sequence = NEW.sequence; END;
CREATE TRIGGER events_immutable BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'constraint failed: an event never changes'); END;
`;

/** Version 2: what artifacts take up, and deleting a session with all that belongs to it. */
const RETENTION = `
ALTER TABLE journal_head ADD COLUMN artifact_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE journal_head SET artifact_bytes = (SELECT coalesce(sum(size_bytes), 0) FROM artifacts);
CREATE TRIGGER artifacts_added AFTER INSERT ON artifacts
BEGIN UPDATE journal_head SET artifact_bytes = artifact_bytes + NEW.size_bytes; END;
CREATE TRIGGER artifacts_removed AFTER DELETE ON artifacts
BEGIN UPDATE journal_head SET artifact_bytes = artifact_bytes - OLD.size_bytes; END;

-- Artifacts whose record is gone and whose file is still to be removed.
CREATE TABLE artifact_deletions (
  id TEXT PRIMARY KEY,
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0)
) STRICT, WITHOUT ROWID;

-- Deleting a row asks for every row that refers to it.
CREATE INDEX attempts_snapshot ON attempts (snapshot_id);
CREATE INDEX observations_attempt ON observations (attempt_id);
CREATE INDEX observations_request ON observations (request_id) WHERE request_id IS NOT NULL;
`;

/** Step `n` leads from version `n` to version `n + 1`; each runs in a transaction of its caller. */
export const SCHEMA_STEPS: readonly string[] = [JOURNAL, RETENTION];

/** `PRAGMA user_version`. A newer one is refused; an older one is migrated after a backup. */
export const SCHEMA_VERSION = SCHEMA_STEPS.length;
