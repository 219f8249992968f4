import type { Page } from "../../core/port/read_models.ts";
import { fail } from "./storage_failure.ts";
import type { Statements } from "./statements.ts";

/** Most items of one page: what a screen can use, and a bound on the time one query takes. */
export const MAX_PAGE_ITEMS = 500;

/** Most bytes of stored JSON in one page of events; one larger event still comes alone. */
export const MAX_PAGE_BYTES = 1024 * 1024;

/** Where a listing begins and how long it is. */
export interface Listing {
  readonly cursor: string | null;
  readonly limit: number;
}

const SEQUENCE_REGEXP = /^[1-9][0-9]{0,15}$/;

/** A page's size within the bounds. */
export function pageLimit(limit: number): number {
  return Number.isFinite(limit) ? Math.min(MAX_PAGE_ITEMS, Math.max(1, Math.floor(limit))) : 1;
}

/** The sequence a cursor stands for: keyset paging, so a page costs the same wherever it is. */
export function parseCursor(
  { path }: Statements,
  { cursor, first }: { readonly cursor: string | null; readonly first: number },
): number {
  if (cursor === null) return first;
  if (!SEQUENCE_REGEXP.test(cursor)) fail("io", path, `Cannot continue from cursor "${cursor}"`);
  return Number(cursor);
}

/** Builds a page from rows of which one more than `limit` was asked for. */
export function toPage<R, T>(
  rows: readonly R[],
  { limit, item, position }: {
    readonly limit: number;
    readonly item: (row: R) => T;
    readonly position: (row: R) => string;
  },
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next = rows.length > limit && last !== undefined ? position(last) : null;
  return { items: shown.map(item), next };
}
