import {
  backup,
  type DatabaseSync,
  type SQLInputValue,
  type SQLOutputValue,
  type StatementSync,
} from "node:sqlite";
import { fail } from "./storage_failure.ts";

/** A connection with its prepared statements, each prepared once. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();
  /** The database file, for error texts. */
  readonly path: string;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.path = path;
  }

  /** Runs a statement; the number of rows it changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  /** The first row, or null. */
  get(sql: string, ...values: SQLInputValue[]): Row | null {
    const found = this.#prepare(sql).get(...values);
    return found === undefined ? null : new Row(found, this.path);
  }

  /** The first column of the first row, whatever its name; null when there is no row. */
  first(sql: string): SQLOutputValue {
    const found = this.#prepare(sql).get();
    return found === undefined ? null : Object.values(found)[0] ?? null;
  }

  /** All rows: the statement itself must bound them. */
  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepare(sql).all(...values).map((found) => new Row(found, this.path));
  }

  /** Runs any number of statements that give no rows. */
  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** Copies the whole database, its write-ahead log included, into another file. */
  async backupTo(path: string): Promise<void> {
    await backup(this.#database, path);
  }

  /** Runs `work` in one transaction, taken at once: all of it is committed, or nothing. */
  transaction<T>(begin: "BEGIN IMMEDIATE" | "BEGIN", work: () => T): T {
    this.run(begin);
    try {
      const value = work();
      this.run("COMMIT");
      return value;
    } catch (thrown) {
      this.#rollBack();
      throw thrown;
    }
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }

  #rollBack(): void {
    try {
      this.run("ROLLBACK");
    } catch {
      // SQLite rolls back by itself on a full disk or an I/O error; then nothing is left to do.
    }
  }

  #prepare(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const prepared = this.#database.prepare(sql);
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/** One row. A column of another type than asked for means a damaged database. */
export class Row {
  readonly #values: Record<string, SQLOutputValue>;
  readonly #path: string;

  constructor(values: Record<string, SQLOutputValue>, path: string) {
    this.#values = values;
    this.#path = path;
  }

  text(column: string): string {
    const value = this.#values[column];
    return typeof value === "string" ? value : this.#damaged(column);
  }

  textOrNull(column: string): string | null {
    return this.#values[column] === null ? null : this.text(column);
  }

  integer(column: string): number {
    const value = this.#values[column];
    return typeof value === "number" ? value : this.#damaged(column);
  }

  integerOrNull(column: string): number | null {
    return this.#values[column] === null ? null : this.integer(column);
  }

  /** A value of a closed vocabulary, such as a state. */
  oneOf<T extends string>(column: string, allowed: readonly T[]): T {
    const value = this.#values[column];
    return allowed.find((known) => known === value) ?? this.#damaged(column);
  }

  /**
   * A column that only this module's writer fills, from a value of the same type: an id or JSON of
   * a plain object. The type is taken on trust, the JSON is not.
   */
  id<T extends string>(column: string): T {
    return this.text(column) as T;
  }

  idOrNull<T extends string>(column: string): T | null {
    return this.textOrNull(column) as T | null;
  }

  json<T>(column: string): T {
    try {
      return JSON.parse(this.text(column)) as T;
    } catch (thrown) {
      if (thrown instanceof SyntaxError) return this.#damaged(column);
      throw thrown;
    }
  }

  jsonOrNull<T>(column: string): T | null {
    return this.#values[column] === null ? null : this.json<T>(column);
  }

  #damaged(column: string): never {
    return fail(
      "corrupt",
      this.#path,
      `Column "${column}" holds an unexpected value`,
    );
  }
}
