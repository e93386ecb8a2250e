import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CommandContext } from '../../src/cli/context.ts';
import type { ChapterProof } from '../../src/commands/drill/chapter.ts';
import { chaptersFor } from '../../src/commands/drill/chapters.ts';
import { instancesFor } from '../../src/commands/drill/drill.ts';
import { queryOf, type Stage, setStage } from '../../src/commands/drill/stage.ts';
import type { Query } from '../../src/lab/engine/engine.ts';

/** 40 of the 120 orders that the lab begins with, as a restore loses that brings back less than it says. */
const SABOTAGE = [
  'delete from order_lines where order_id between 81 and 120',
  'delete from orders where id between 81 and 120',
];

/** The database that the run of each chapter leaves, by runbook; that of a rotation is a scratch one. */
const LEFT = {
  'rotate-key': 'scratch',
  'disaster-recovery': 'orders-dr',
  'restore-point-in-time': 'billing',
  'restore-backup': 'orders',
  'back-up-and-verify': 'orders',
  'change-instance': 'orders',
} as const;

/** A lab, a run of several steps, and a machine that has other work. */
const LIMIT_MS = 600_000;
/** A chapter that takes longer hangs, and the test tells where. */
const HANGS_AFTER_MS = 300_000;
/** This much of what a chapter that hangs has said and written is told. */
const LAST = 12;

describe('a chapter of a drill is not proven if rows are missing after its run', {
  timeout: LIMIT_MS,
}, () => {
  test.each(Object.entries(LEFT))('%s', async (runbook, database) => {
    const proof = await played(runbook, database, async (query) => {
      for (const statement of SABOTAGE) await query(statement);
    });
    expect(proof.proven, JSON.stringify(proof)).toBe(false);
  });

  test('restore-backup with all rows present is proven, and has compared every table', async () => {
    const proof = await played('restore-backup', 'orders', async () => undefined);
    expect(proof, JSON.stringify(proof)).toMatchObject({ proven: true });
    expect(proof.tables.map(({ name }) => name)).toEqual(['customers', 'products', 'orders', 'order_lines']);
  });
});

/** Plays one chapter on a lab of its own, and lets `hurt` at the database that its last run leaves. */
async function played(
  runbook: string,
  database: string,
  hurt: (query: Query) => Promise<void>,
): Promise<ChapterProof> {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-sabotage-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  // PostgreSQL, which refuses to run as root, gets a user of its own there; it must be able to walk in.
  chmodSync(folder, 0o755);
  const [chapter] = chaptersFor({ runbook, scenario: undefined, revision: '62' });
  if (chapter === undefined) throw new Error(`there is no chapter of ${runbook}`);
  const signal = AbortSignal.timeout(HANGS_AFTER_MS);
  const lab = { revision: 62 as const, instances: instancesFor([chapter]) };
  const said: string[] = [];
  await using stage = await setStage(contextIn(folder, said), { folder, auto: true, lab, signal });
  const runs: string[] = [];
  const hurting: Stage = {
    ...stage,
    ended: undefined,
    lab: Object.create(stage.lab, {
      openScratch: {
        value: async (...given: Parameters<Stage['lab']['openScratch']>) => {
          const scratch = await stage.lab.openScratch(...given);
          await hurt(scratch.query);
          return scratch;
        },
      },
    }) as Stage['lab'],
    runRunbook: async (...given) => {
      const ended = await stage.runRunbook(...given);
      runs.push(ended.runId);
      const isLast = runbook !== 'disaster-recovery' || runs.length === 2;
      if (database !== 'scratch' && isLast) await hurt(queryOf(stage.lab, database));
      return ended;
    },
  };
  const proof = await Promise.race([chapter.play(hurting), whereItHangs(stage, said)]);
  if (proof === undefined) throw new Error(`the run ended with ${stage.ended}`);
  return proof;
}

/** Rejects when the chapter hangs, with what it said last, and the last entries of its journal. */
async function whereItHangs({ signal, workspace }: Stage, said: readonly string[]): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  const streams = await workspace.journal.streams('run/');
  const entries = await Promise.all(streams.map(({ stream }) => workspace.journal.read(stream)));
  const written = entries.flatMap((ofRun) =>
    ofRun.slice(-LAST).map(({ at, type, body }) => `${at} ${type} ${JSON.stringify(body)}`),
  );
  throw new Error(['it hangs', ...said.slice(-LAST), ...written].join('\n'));
}

function contextIn(folder: string, said: string[]): CommandContext {
  const quiet = () =>
    Object.assign(
      new PassThrough().on('data', (line) => said.push(String(line))),
      { isTTY: false },
    );
  return {
    env: { ...process.env, HOME: folder, LIFEBOAT_HOME: join(folder, 'home') },
    version: '0.0.0',
    configPath: undefined,
    stdin: Readable.from([]),
    stdout: quiet(),
    stderr: quiet(),
  } as unknown as CommandContext;
}
