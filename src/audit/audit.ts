import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { LifeboatError } from '../errors.ts';
import {
  DATABASE_FILE,
  openDatabaseForReading,
  pragma,
  SCHEMA,
  SCHEMA_VERSION,
} from '../store/sqlite-database.ts';
import { show } from '../text.ts';
import { collectCheckpoints } from './audit-checkpoints.ts';
import { auditEntries } from './audit-entries.ts';
import { type Audit, type AuditOptions, type AuditReport, createAudit } from './audit-report.ts';
import { auditStrangers, readStrangers } from './audit-strangers.ts';

/**
 * Re-computes everything there is about a journal: every hash, number and canonical body, the database's own
 * structure, every checkpoint's signature, and whether the streams still contain what the checkpoints saw. Changes
 * nothing, works while runs are live, and answers with findings for any bytes whatsoever: it never throws for content.
 */
export async function auditVerify(options: AuditOptions): Promise<AuditReport> {
  const audit = createAudit();
  // Checkpoints first: read after the entries, those of a live run would seem to come from the future.
  const checkpoints = collectCheckpoints(options, audit);
  const db = openForAudit(options.home, checkpoints.byStream.size > 0, audit);
  if (db !== undefined) {
    try {
      db.exec('BEGIN');
      auditStructure(db, audit);
      auditEntries(db, checkpoints, options, audit);
      auditStrangers(db, readStrangers(options, checkpoints.installations), audit);
    } catch (error) {
      audit.problem('database.unreadable', `reading the database failed: ${said(error)}`);
    } finally {
      db.close();
    }
  }
  return audit.report(checkpoints.trust);
}

function openForAudit(home: string, expected: boolean, audit: Audit): DatabaseSync | undefined {
  try {
    return openDatabaseForReading(home);
  } catch (error) {
    if (error instanceof LifeboatError && error.code === 'journal.none') {
      const find = expected ? audit.problem : audit.warning;
      find('database.missing', `there is no ${join(home, DATABASE_FILE)}`);
    } else {
      audit.problem('database.unreadable', `the database cannot be opened: ${said(error)}`);
    }
    return undefined;
  }
}

/** The file as SQLite sees it, and that nothing but the journal's own tables and triggers is in it. */
function auditStructure(db: DatabaseSync, audit: Audit): void {
  const version = pragma(db, 'user_version');
  if (version !== SCHEMA_VERSION) {
    audit.problem('database.version', `journal format ${String(version)} instead of ${SCHEMA_VERSION}`);
  }
  const found = db.prepare('SELECT name, sql FROM sqlite_schema').all();
  const names = new Set([...Object.keys(SCHEMA), ...found.map((row) => String(row['name']))]);
  for (const name of names) {
    const sql = found.filter((row) => row['name'] === name).map((row) => row['sql']);
    if (sql.length === 1 && sql[0] === SCHEMA[name]) continue;
    audit.problem('database.schema', `${show(name, 60)} is not as the journal made it`);
  }
  for (const row of db.prepare('PRAGMA integrity_check(20)').all()) {
    const message = String(Object.values(row)[0]);
    if (message !== 'ok') audit.problem('database.damaged', `SQLite reports: ${show(message, 200)}`);
  }
}

function said(error: unknown): string {
  const deepest = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return show(deepest instanceof Error ? deepest.message : String(deepest), 200);
}
