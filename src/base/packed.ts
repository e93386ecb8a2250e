import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { deserialize, serialize } from 'node:v8';

/** As many values stay in memory: few commands have more, and these read no file for them. */
const MOST_IN_MEMORY = 1_000;

/**
 * Values of thousands of names, each looked at once or twice, as bytes (`serialize` of node:v8). From the
 * thousand-and-first on they are in a temporary file, which has no name and is gone with the process; where
 * none can be written, they stay in memory.
 */
export class PackedMap<Value> {
  readonly #most: number;
  /** A character for each byte: ten thousand small buffers leave holes in the memory that is not V8's. */
  readonly #kept = new Map<string, string>();
  readonly #filed = new Set<string>();
  #file: TemporaryFile | undefined;

  constructor(most = MOST_IN_MEMORY) {
    this.#most = most;
  }

  get size(): number {
    return this.#kept.size + this.#filed.size;
  }

  set(name: string, value: Value): void {
    const bytes = serialize(value);
    // Nothing leaves the memory again, so that a name with a value in the file never finds room here.
    const hasRoom = this.#kept.has(name) || this.#kept.size < this.#most;
    if (hasRoom || !this.#write(name, bytes)) {
      this.#filed.delete(name);
      this.#kept.set(name, bytes.toString('latin1'));
    } else this.#filed.add(name);
  }

  /** A new copy with each call. */
  get(name: string): Value | undefined {
    const bytes = this.#filed.has(name) ? this.#file?.read(name) : this.#inMemory(name);
    return bytes === undefined ? undefined : (deserialize(bytes) as Value);
  }

  /** The values of these names, in this order, unpacked one at a time. */
  of(names: readonly string[]): Iterable<Value> {
    const get = (name: string) => this.get(name);
    return {
      *[Symbol.iterator]() {
        for (const name of names) {
          const value = get(name);
          if (value !== undefined) yield value;
        }
      },
    };
  }

  #inMemory(name: string): Buffer | undefined {
    const text = this.#kept.get(name);
    return text === undefined ? undefined : Buffer.from(text, 'latin1');
  }

  #write(name: string, bytes: Uint8Array): boolean {
    try {
      this.#file ??= new TemporaryFile();
      this.#file.write(name, bytes);
      return true;
    } catch {
      return false;
    }
  }
}

/**
 * Bytes by name, in a private temporary database: SQLite removes its name as it makes it, and keeps a few
 * pages in memory. Each call may throw, if the disk is full for example; then nothing has changed.
 */
class TemporaryFile {
  readonly #put: StatementSync;
  readonly #get: StatementSync;

  constructor() {
    // Loaded by a command that keeps thousands of values only.
    const { DatabaseSync: Database } = process.getBuiltinModule('node:sqlite');
    const database: DatabaseSync = new Database('');
    database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${CACHE_KIB};
      CREATE TABLE kept (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID`);
    this.#put = database.prepare('INSERT OR REPLACE INTO kept VALUES (?, ?)');
    this.#get = database.prepare('SELECT bytes FROM kept WHERE name = ?');
  }

  write(name: string, bytes: Uint8Array): void {
    this.#put.run(name, bytes);
  }

  read(name: string): Uint8Array | undefined {
    return this.#get.get(name)?.['bytes'] as Uint8Array | undefined;
  }
}

const CACHE_KIB = 1_024;
