import { fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { auditVerify } from '../../src/audit/audit.ts';
import type { NewEntry } from '../../src/store/journal.ts';
import { homePlace } from '../../src/store/log/places/folder-place.ts';
import { createSealer } from '../../src/store/log/sealer.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { freshSigner } from '../store/fresh-signer.ts';
import { median } from './median.ts';

export interface JournalBench {
  /**
   * Medians, in milliseconds, of the same loop: a raw append of the same size and fdatasync, a durable entry,
   * its checkpoint in the home.
   */
  readonly rawMs: number;
  readonly appendMs: number;
  readonly checkpointMs: number;
  /**
   * Means of processor time, of the same three: what is left of them on a machine that others use, or on a
   * disk whose fdatasync does nothing.
   */
  readonly cpu: { readonly rawMs: number; readonly appendMs: number; readonly checkpointMs: number };
  /** Of an entry to a raw append. Budget: at most 2. */
  readonly ratio: number;
  /** Of an entry with its checkpoint in one place. Budget: at most 4. */
  readonly ratioWithCheckpoint: number;
  /** The whole of an audit, scaled from 100,000 entries, in seconds. Budget: at most 10. */
  readonly verifyMillionSeconds: number;
}

/** Measures the store: what an intent costs before its first byte may leave, and what an audit costs. */
export async function benchJournal(appends = 1_000, entries = 100_000): Promise<JournalBench> {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-bench-'));
  try {
    const { append, raw, checkpoint, cpu } = await timeAppends(folder, appends);
    const seconds = await timeVerify(join(folder, 'verify'), entries);
    return {
      rawMs: raw,
      appendMs: append,
      checkpointMs: checkpoint,
      cpu,
      ratio: append / raw,
      ratioWithCheckpoint: (append + checkpoint) / raw,
      verifyMillionSeconds: (seconds * 1_000_000) / entries,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** About 400 bytes of canonical JSON, of the shape that a run mostly writes. */
const body = {
  event: {
    output: {
      backup: { finished_at: '2026-01-02T03:04:05Z', id: 7, size: 123_456_789, status: 'done' },
      report: { entries: 972, sha256: 'a'.repeat(64), verdict: 'readable' },
      warnings: ['the download was resumed once', 'the clock of the service is 2 s behind'],
    },
    type: 'xstate.done.actor.verify',
  },
  title: 'Open the backup with the new key',
  to: 'prove.verify',
};

/**
 * A run with a call under way, which each checkpoint names: that is what an entry and its checkpoint cost
 * before a call leaves.
 */
const begun: readonly NewEntry[] = [
  {
    stream: 'run/a',
    type: 'run.started',
    body: { runbook: 'back-up-and-verify', version: '1', instance: 'bench', mode: 'LIVE' },
  },
  { stream: 'run/a', type: 'activity.begun', body: { key: 'backup-1', kind: 'mutation', input: {} } },
  {
    stream: 'run/a',
    type: 'intent.prepared',
    body: { intent: 'backup-1', verb: 'createBackup', baseline: [] },
  },
  { stream: 'run/a', type: 'intent.armed', body: { intent: 'backup-1' } },
];

const note: NewEntry = { stream: 'run/a', type: 'note', body };

async function openBench(home: string) {
  const signer = freshSigner();
  const journal = await openSqliteStore({ home, by: 'bench', signer, projections: PROJECTIONS });
  const sealer = createSealer(journal, { signer, places: [homePlace(home)] });
  return { signer, journal, sealer, holds: [await journal.hold('run/a')] };
}

async function timeAppends(folder: string, count: number) {
  const { journal, sealer, holds } = await openBench(join(folder, 'append'));
  const file = openSync(join(folder, 'raw'), 'a', 0o600);
  const line = Buffer.alloc(JSON.stringify(body).length, 'x');
  const times = { append: [] as number[], raw: [] as number[], checkpoint: [] as number[] };
  const cpu = { rawMs: 0, appendMs: 0, checkpointMs: 0 };
  const cpuTime = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000 / count;
  };
  await journal.append(begun, holds);
  if (!(await sealer.sealNow()).includes('armed ')) throw new Error('the checkpoint names no call');
  for (let index = 0; index < count; index += 1) {
    const [start, startCpu] = [performance.now(), cpuTime()];
    writeSync(file, line);
    fdatasyncSync(file);
    const [written, writtenCpu] = [performance.now(), cpuTime()];
    await journal.append([note], holds);
    const [appended, appendedCpu] = [performance.now(), cpuTime()];
    await sealer.sealNow();
    times.raw.push(written - start);
    times.append.push(appended - written);
    times.checkpoint.push(performance.now() - appended);
    cpu.rawMs += writtenCpu - startCpu;
    cpu.appendMs += appendedCpu - writtenCpu;
    cpu.checkpointMs += cpuTime() - appendedCpu;
  }
  await journal.close();
  return {
    cpu,
    append: median(times.append),
    raw: median(times.raw),
    checkpoint: median(times.checkpoint),
  };
}

async function timeVerify(home: string, count: number): Promise<number> {
  const { signer, journal, sealer, holds } = await openBench(home);
  // In large appends: a hundred thousand durable ones would take half a minute.
  const group = Array.from({ length: 1_000 }, () => note);
  for (let left = count; left > 0; left -= group.length) await journal.append(group, holds);
  await sealer.sealNow();
  const start = performance.now();
  const { log } = journal;
  const report = await auditVerify({
    log,
    places: [homePlace(home)],
    storedKey: signer.publicKey,
    transcriptOf: () => undefined,
  });
  const seconds = (performance.now() - start) / 1_000;
  await journal.close();
  if (report.verdict !== 'intact' || report.entries !== count + 1)
    throw new Error(`the audit found ${JSON.stringify(report.findings)}`);
  return seconds;
}
