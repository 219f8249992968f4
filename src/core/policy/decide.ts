import { type Decision, stricter } from "./decision.ts";
import type { Grant } from "./grant.ts";
import { approvalKey, type OperationScope, scopeKey } from "./scope.ts";

/** The `[policy]` section as policy sees it. */
export interface PolicySettings {
  readonly edit: Decision;
  readonly shell: Decision;
  readonly gitCommit: Decision;
  readonly gitPush: Decision;
}

/** Everything a decision may depend on. Nothing else is looked at. */
export interface PolicyInput {
  readonly scope: OperationScope;
  readonly settings: PolicySettings;
  readonly grants: readonly Grant[];
  /** The explicit act of this session: ask becomes allow, deny stays deny. */
  readonly yolo: boolean;
}

/** One rule that took part, in the order it was applied. */
export type Evidence =
  | { readonly type: "inspection"; readonly decision: Decision }
  | { readonly type: "setting"; readonly key: string; readonly decision: Decision }
  | { readonly type: "user_change"; readonly decision: Decision; readonly change: string }
  | { readonly type: "grant"; readonly decision: Decision; readonly grantId: Grant["id"] }
  | { readonly type: "yolo"; readonly decision: Decision }
  /** The task's verification command: consented to with the configuration, or given by flag. */
  | { readonly type: "verification_contract"; readonly decision: Decision }
  /** The user's own answer to this operation. */
  | { readonly type: "answer"; readonly decision: Decision };

export interface Evaluation {
  readonly decision: Decision;
  readonly evidence: readonly Evidence[];
  /** The grant that turned an ask into an allow; consumed with the intent when it is one-time. */
  readonly grant: Grant | null;
}

/**
 * Decides one operation. Pure: the same input gives the same answer and the rules that made it.
 * Denials beat grants and YOLO; a grant beats an ask; nothing beats a denial.
 */
export function decide(input: PolicyInput): Evaluation {
  const evidence: Evidence[] = rules(input);
  const base = evidence.reduce<Decision>((worst, rule) => stricter(worst, rule.decision), "allow");
  if (base !== "ask") return { decision: base, evidence, grant: null };
  const grant = findGrant(input);
  if (grant !== null) {
    evidence.push({ type: "grant", decision: "allow", grantId: grant.id });
    return { decision: "allow", evidence, grant };
  }
  if (input.yolo) {
    evidence.push({ type: "yolo", decision: "allow" });
    return { decision: "allow", evidence, grant: null };
  }
  return { decision: "ask", evidence, grant: null };
}

function rules({ scope, settings }: PolicyInput): Evidence[] {
  switch (scope.type) {
    case "inspect":
    case "git_inspect":
      return [{ type: "inspection", decision: "allow" }];
    case "file": {
      const found: Evidence[] = [
        { type: "setting", key: "policy.edit", decision: settings.edit },
      ];
      if (scope.userChange !== "none") {
        found.push({ type: "user_change", decision: "ask", change: scope.userChange });
      }
      return found;
    }
    case "command": {
      const found: Evidence[] = [
        { type: "setting", key: "policy.shell", decision: settings.shell },
      ];
      if (scope.git === "commit") {
        found.push({ type: "setting", key: "policy.git_commit", decision: settings.gitCommit });
      }
      if (scope.git === "push") {
        found.push({ type: "setting", key: "policy.git_push", decision: settings.gitPush });
      }
      return found;
    }
  }
}

/** The grant to use: one that lasts before one that would be used up. */
function findGrant({ scope, grants }: PolicyInput): Grant | null {
  const found = grants.filter((grant) => grant.state === "active" && covers(grant, scope));
  return found.find(({ lifetime }) => lifetime === "task") ?? found[0] ?? null;
}

/** Whether a grant names this operation. Nothing but equality counts. */
export function covers(grant: Pick<Grant, "covers" | "key">, scope: OperationScope): boolean {
  switch (grant.covers) {
    case "scope":
      return grant.key === scopeKey(scope);
    case "exact":
      return grant.key === approvalKey(scope);
    case "touch":
      // A rename touches two names: one path's grant does not allow to lose or replace the other.
      // And it was given for what was there: content that came from elsewhere since is not covered.
      return scope.type === "file" && scope.to === null && scope.path === grant.key &&
        scope.knownVersion;
  }
}
