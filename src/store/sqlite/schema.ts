/** Written into the database (`user_version`); a lifeboat opens only its own version. */
export const SCHEMA_VERSION = 2;

const APPEND_ONLY = "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END";

/**
 * The whole schema, by name, exactly as in `sqlite_schema.sql`: an audit compares it character by character.
 */
export const SCHEMA: Readonly<Record<string, string>> = {
  // `tree` holds the nodes that the leaf completes (log/merkle.ts), 32 bytes each.
  entries:
    'CREATE TABLE entries (leaf INTEGER PRIMARY KEY, stream TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, ' +
    'by TEXT NOT NULL, type TEXT NOT NULL, body TEXT NOT NULL, hash BLOB NOT NULL, tree BLOB NOT NULL) STRICT',
  entries_by_stream: 'CREATE UNIQUE INDEX entries_by_stream ON entries (stream, seq)',
  // They stop accidents with a database tool. A forger removes them first, but cannot sign new heads.
  entries_no_update: `CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries ${APPEND_ONLY}`,
  entries_no_delete: `CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries ${APPEND_ONLY}`,
  heads:
    'CREATE TABLE heads (size INTEGER PRIMARY KEY, note TEXT NOT NULL, installation TEXT NOT NULL, ' +
    'vouched INTEGER NOT NULL) STRICT',
  heads_no_update: `CREATE TRIGGER heads_no_update BEFORE UPDATE ON heads ${APPEND_ONLY}`,
  heads_no_delete: `CREATE TRIGGER heads_no_delete BEFORE DELETE ON heads ${APPEND_ONLY}`,
  holds: 'CREATE TABLE holds (resource TEXT PRIMARY KEY, token INTEGER NOT NULL) STRICT, WITHOUT ROWID',
  // Derived from the entries: `doctor --deep` compares them, another version rebuilds them.
  projections:
    'CREATE TABLE projections (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID',
  rows:
    'CREATE TABLE rows (projection TEXT NOT NULL, key TEXT NOT NULL, grp TEXT NOT NULL, sort TEXT NOT NULL, ' +
    'value TEXT NOT NULL, PRIMARY KEY (projection, key)) STRICT, WITHOUT ROWID',
  rows_by_group: 'CREATE INDEX rows_by_group ON rows (projection, grp, sort)',
  rows_by_sort: 'CREATE INDEX rows_by_sort ON rows (projection, sort)',
};
