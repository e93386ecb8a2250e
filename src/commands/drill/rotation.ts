import type { DownloadedFile, Verification } from '../../../machines/parts/task-data.ts';
import { openContent } from '../../backup/read-backup.ts';
import { dateAt } from '../../base/date.ts';
import { LifeboatError } from '../../base/errors.ts';
import { secondsOf } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import type { Workspace } from '../../compose/workspace.ts';
import type { Lab, Scratch } from '../../lab/lab.ts';
import { sampleDigest } from '../../lab/sample-data.ts';
import { appendHolding } from '../../runner/holds.ts';
import type { Entry } from '../../store/journal.ts';
import type { ComparedTable } from '../../store/recovery-facts.ts';
import { allHold, type Chapter, compareTables } from './chapter.ts';

/** Rotates the key, restores the backup that proves it into a scratch database and compares it row by row. */
export function rotation(instance: string): Chapter {
  return {
    runbook: 'rotate-key',
    title: 'rotate the key and prove a backup',
    instance,
    async play(stage) {
      const { runId, exitCode } = await stage.runRunbook('rotate-key', { instance }, instance);
      if (exitCode !== 0) return undefined;
      stage.say('restoring the proven backup into a scratch database');
      const proof = await restoreAndCompare(stage.lab, stage.workspace, runId, instance);
      const { backup, key, verdict, rows, rtoSeconds, rpoSeconds } = proof;
      const body = { run: runId, backup: { id: backup }, key, verdict, rows, rtoSeconds, rpoSeconds };
      await appendHolding(stage.workspace.journal, [
        { stream: `instance/${instance}`, type: 'backup.restored', body },
      ]);
      const checks = [
        {
          what: 'everything from before the backup is in it, nothing from after it',
          holds: proof.withinBackupTime,
        },
        { what: 'every order equals the sum of its lines', holds: proof.balanced },
      ];
      return {
        runbook: 'rotate-key',
        title: 'rotate the key and prove a backup',
        instance,
        runIds: [runId],
        proven: allHold({ checks, tables: proof.tables }),
        verdict: 'restored',
        checks,
        tables: proof.tables,
        measures: {
          rtoSeconds,
          rtoHow: 'from the start of the restore to the first answer',
          rpoSeconds,
          rpoHow: 'between the newest restored order and the newest at the source',
        },
        facts: { backup, key, rows, withinBackupTime: proof.withinBackupTime },
        files: proof.files,
      };
    },
  };
}

/** The proof of a drill. Times in seconds. */
interface DrillProof {
  readonly runId: string;
  readonly equal: boolean;
  readonly verdict: 'restored' | 'differs';
  readonly backup: number;
  readonly key: string;
  readonly tables: readonly ComparedTable[];
  readonly rows: number;
  /** With all from before its request, nothing from after its end. */
  readonly withinBackupTime: boolean;
  /** Every order equals the sum of its lines, so every transaction is whole. */
  readonly balanced: boolean;
  readonly rtoSeconds: number;
  readonly rpoSeconds: number;
  readonly files: readonly { readonly name: string; readonly sha256: string }[];
}

/**
 * Restores the proven backup into a scratch database and compares every row up to its newest order. Recovery
 * time: from here to the database's first answer. Recovery point: the age of its newest order against the
 * source's then, as if the source were lost now.
 */
async function restoreAndCompare(
  lab: Lab,
  workspace: Workspace,
  runId: string,
  instance: string,
): Promise<DrillProof> {
  const { file, verification, backup, window } = evidenceOf(await workspace.journal.read(`run/${runId}`));
  const key = await workspace.keyring.load(instance, verification.opens);
  const source = lab.instances.find((candidate) => candidate.name === instance);
  if (key === undefined || source === undefined)
    throw new LifeboatError('drill.broken', 'the drill lost its key or its lab');
  const newestBefore = await newestOrder(source.query);
  const began = performance.now();
  const content = await openContent(file.path, { key });
  const scratch: Scratch = await lab.openScratch(content, { name: 'proof' });
  try {
    const newestRestored = await newestOrder(scratch.query);
    const rtoSeconds = secondsOf(performance.now() - began);
    const restored = await sampleDigest(scratch.query);
    const expected = await sampleDigest(source.query, restored.tables.orders.maxId);
    const tables = compareTables(restored, expected);
    const withinBackupTime = await isWithin(
      source.query,
      restored.tables.orders.maxId,
      newestRestored,
      byDatabase(window, lab),
    );
    const balanced = restored.unbalancedOrders === 0;
    const equal =
      balanced && withinBackupTime && restored.tables.orders.rows > 0 && tables.every((table) => table.equal);
    return {
      runId,
      equal,
      verdict: equal ? 'restored' : 'differs',
      backup,
      key: verification.opens,
      tables,
      rows: tables.reduce((sum, table) => sum + table.rows, 0),
      withinBackupTime,
      balanced,
      rtoSeconds,
      rpoSeconds: Math.max(0, (newestBefore.getTime() - newestRestored.getTime()) / 1000),
      files: [{ name: file.path, sha256: file.sha256 }],
    };
  } finally {
    await scratch.close();
  }
}

interface Window {
  readonly triggeredAt: string | undefined;
  readonly finishedAt: string | undefined;
}

/** Converts the window to the database's clock: the service's own may be wrong, or run fast. */
function byDatabase({ triggeredAt, finishedAt }: Window, { clock }: Lab): Window {
  const real = (text: string | undefined) =>
    text === undefined ? undefined : clock.toReal(dateAt(msOf(text))).toISOString();
  return { triggeredAt: real(triggeredAt), finishedAt: real(finishedAt) };
}

/** The file, the verdict and the backup's times from the run's journal. */
function evidenceOf(entries: readonly Entry[]) {
  const outputs = new Map<string, unknown>();
  for (const { type, body } of entries) {
    if (type !== 'event') continue;
    const { event } = body as unknown as { event: { type: string; output?: unknown } };
    outputs.set(event.type, event.output);
  }
  const file = outputs.get('xstate.done.actor.download') as DownloadedFile | undefined;
  const verification = outputs.get('xstate.done.actor.verify') as Verification | undefined;
  const waited = outputs.get('xstate.done.actor.waitForBackup') as
    | ({ id: number } & Partial<Window>)
    | undefined;
  if (file === undefined || verification === undefined || waited === undefined)
    throw new LifeboatError('drill.no-proof', 'the run has no downloaded and verified backup to restore');
  return {
    file,
    verification,
    backup: waited.id,
    window: { triggeredAt: waited.triggeredAt, finishedAt: waited.finishedAt },
  };
}

type Query = Scratch['query'];

async function newestOrder(query: Query): Promise<Date> {
  const [row] = await query<{ newest: Date | null }>('select max(created_at) as newest from orders');
  return row?.newest ?? dateAt(0);
}

/** With every order from before the request, and none from after the backup's end. */
async function isWithin(
  source: Query,
  maxId: number,
  newest: Date,
  { triggeredAt, finishedAt }: Window,
): Promise<boolean> {
  if (triggeredAt === undefined || finishedAt === undefined) return false;
  const [row] = await source<{ missing: string }>(
    'select count(*) as missing from orders where created_at < $1::timestamptz and id > $2',
    [triggeredAt, maxId],
  );
  return Number(row?.missing) === 0 && newest.getTime() <= msOf(finishedAt);
}
