import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { chooseStore } from '../../src/keys/choose-store.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import type { Json, NewEntry } from '../../src/store/journal.ts';
import { createSigner } from '../../src/store/log/signer.ts';
import { prepareEntry } from '../../src/store/new-entry.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { prepareQueries } from '../../src/store/sqlite/queries.ts';
import { prepareWriter } from '../../src/store/sqlite/write.ts';
import { median } from './median.ts';
import { timed } from './timed.ts';

/** A command in a home with many closed runs, against the same in one with ten. */
export interface RunsBench {
  readonly command: string;
  /** Medians, milliseconds. */
  readonly manyMs: number;
  readonly fewMs: number;
  /** The most of all rounds; undefined where the system does not tell. */
  readonly peakRssMiB: number | undefined;
  /** The same with ten. */
  readonly fewRssMiB: number | undefined;
}

const FEW = 10;
/** Runs whose entries are one append. */
const BATCH = 500;

const START = ['run', 'back-up-and-verify', '--instance', 'bench', '--yes', '--json'];

/** What is measured. None of them sends anything but to a port where nothing listens. */
const COMMANDS: Readonly<Record<string, { readonly args: readonly string[]; readonly isStart?: boolean }>> = {
  'runs --open': { args: ['runs', '--open', '--json'] },
  followUps: { args: ['followups', '--json'] },
  'runs --in-doubt': { args: ['runs', '--in-doubt', '--json'] },
  'keys list': { args: ['keys', 'list', '--json'] },
  'start of a run': { args: START, isStart: true },
};

/**
 * Times commands in a home with `count` closed runs and in one with ten, in turns, so that a noisy machine
 * hurts both.
 */
export async function benchRuns(cli: readonly string[], count: number, rounds: number): Promise<RunsBench[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-bench-'));
  try {
    const [many, few] = [join(folder, 'many'), join(folder, 'few')];
    const env = environment(folder);
    await fill(many, count, env);
    await fill(few, FEW, env);
    const results: RunsBench[] = [];
    const once = async (home: string, args: readonly string[], isStart: boolean) => {
      const its = { ...env, LIFEBOAT_HOME: home };
      if (!isStart) return timed([...cli, ...args], { env: its });
      // A run has begun when its first entry is printed; it is given up at once, so that the next one can
      // begin.
      const time = await timed([...cli, ...args], { env: its, codes: [EXIT.interrupted], untilSaid: true });
      await timed([...cli, 'resume', '--abandon', 'only timed'], { env: its });
      return time;
    };
    for (const [command, { args, isStart = false }] of Object.entries(COMMANDS)) {
      const seen = { many: [] as number[], few: [] as number[], rss: [] as number[], fewRss: [] as number[] };
      for (let round = 0; round < rounds; round += 1) {
        const slow = await once(many, args, isStart);
        const quick = await once(few, args, isStart);
        seen.many.push(slow.ms);
        seen.few.push(quick.ms);
        if (slow.peakRssMiB !== undefined) seen.rss.push(slow.peakRssMiB);
        if (quick.peakRssMiB !== undefined) seen.fewRss.push(quick.peakRssMiB);
      }
      const [peakRssMiB, fewRssMiB] = [most(seen.rss), most(seen.fewRss)];
      results.push({ command, manyMs: median(seen.many), fewMs: median(seen.few), peakRssMiB, fewRssMiB });
    }
    return results;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function environment(folder: string): NodeJS.ProcessEnv {
  const [config, passphrase] = [join(folder, 'lifeboat.yaml'), join(folder, 'passphrase')];
  writeFileSync(passphrase, 'a passphrase of the bench', { mode: 0o600 });
  const url = 'http://127.0.0.1:9/service-instances/bench';
  const bench = `{ url: '${url}', revision: 62, token: { env: BENCH_TOKEN }, rehearsal: true }`;
  writeFileSync(config, `instances: { bench: ${bench} }\n`, { mode: 0o600 });
  return {
    ...process.env,
    BENCH_TOKEN: 'nobody asks for it',
    LIFEBOAT_CONFIG: config,
    LIFEBOAT_KEYCHAIN: 'vault',
    LIFEBOAT_PASSPHRASE_FILE: passphrase,
  };
}

/**
 * A home with this many closed runs of one instance, each with its facts in the ledger. By the writer of the
 * store, many runs an append: the files of a hundred thousand holds would take longer than all the rest.
 */
async function fill(home: string, count: number, env: NodeJS.ProcessEnv): Promise<void> {
  mkdirSync(home, { mode: 0o700 });
  const keyring = openKeyring(await chooseStore({ env, home }));
  const signer = createSigner(await keyring.signingKey());
  const key = await keyring.add('bench', new Secret('bench-key-bench-key-bench-key'));
  await (await openSqliteStore({ home, by: 'bench', signer, projections: PROJECTIONS })).close();
  const db = openDatabase(home);
  db.exec('PRAGMA synchronous = OFF');
  const writer = prepareWriter(db, prepareQueries(db), { by: 'bench', signer, projections: PROJECTIONS });
  for (let from = 0; from < count; from += BATCH) {
    const runs = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) =>
      closedRun(from + index, key),
    );
    const at = new Date(Date.UTC(2026, 0, 1) + from * 60_000).toISOString();
    writer.append(runs.flat().map(prepareEntry), new Map(), {
      at,
      vouched: 0,
      assertHoldsLast: () => undefined,
    });
  }
  db.close();
}

/** A backup that was made, lost its answer, was found, and was opened; and what it leaves in the ledger. */
function closedRun(number: number, fingerprint: string): readonly NewEntry[] {
  const runId = `01K${String(number).padStart(23, '0')}`;
  const run = (type: string, body: Json): NewEntry => ({ stream: `run/${runId}`, type, body });
  const ledger = (type: string, body: Json): NewEntry => ({ stream: 'instance/bench', type, body });
  const intent = { intent: 'backup-0', verb: 'createBackup' };
  const failure = { code: 'service.timeout', shortMessage: 'no answer within 30 s', hints: [], evidence: {} };
  const input = { intent: 'backup-0' };
  const follow = {
    id: `fresh-backup-${number}`,
    kind: 'fresh-backup',
    subject: 'bench',
    what: 'back up bench',
  };
  const key = { fingerprint, run: runId };
  const backup = { id: number, backup_id: `b-${number}` };
  return [
    run('run.started', {
      ...{
        runbook: 'back-up-and-verify',
        version: '1',
        instance: 'bench',
        mode: 'REHEARSAL',
        operator: 'bench',
      },
      input: { instance: 'bench' },
      tool: { name: 'lifeboat', version: '0.1.0', node: process.version },
    }),
    run('activity.begun', { activity: 'backup', verb: 'createBackup', kind: 'once', key: 'backup-0', input }),
    run('intent.prepared', { ...intent, baseline: { ids: [1, 2, 3] } }),
    run('intent.armed', intent),
    run('intent.outcome', { ...intent, sent: 'unknown', failure }),
    run('intent.judged', { ...intent, verdict: 'landed', output: { landed: true, id: number } }),
    run('event', { event: { type: 'xstate.done.actor.backup' }, to: 'verifying', title: 'open the backup' }),
    run('run.closed', { outcome: 'done', title: 'done', proven: true, summary: [], deviations: [] }),
    ledger('key.proven', { ...key, backup, verdict: 'readable', cipherSha256: '0', negative: 'refused' }),
    ledger('follow-up.opened', { followUp: follow, run: runId }),
    ledger('follow-up.closed', {
      id: follow.id,
      closure: { how: 'hand', text: 'made by the schedule' },
    }),
  ];
}

function most(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values);
}
