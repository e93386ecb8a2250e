import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { statePath } from '../../machines/parts/states.ts';
import type { AnyActivity } from '../../src/activities/activity.ts';
import type { Look } from '../../src/runner/resolve-doubt.ts';
import type { Run, RunDeps } from '../../src/runner/run.ts';
import { startRun } from '../../src/runner/runs.ts';
import { takeUp } from '../../src/runner/take-up.ts';
import type { Journal, Json } from '../../src/store/journal.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { outcomesOf } from '../machines/outcomes.ts';
import { freshSigner } from '../store/fresh-signer.ts';

/**
 * A journal on disk, and activities that end as the test says; the machine and the runner are real. With
 * `databaseAheadMs` its entries are stamped as by a database whose clock is ahead of this machine's.
 */
export interface World {
  readonly home: string;
  readonly journal: Journal;
  readonly runId: string;
  /** Takes the run up as a new process would, from the journal alone. */
  takeUp(overrides?: Partial<RunDeps>): Promise<Run>;
  /** The types of the run's entries, in order. */
  types(): Promise<string[]>;
  bodies(type: string): Promise<Json[]>;
}

const rotateKey = runbooks['rotate-key'] as Runbook;

export async function makeWorld(
  activities: Readonly<Record<string, AnyActivity>>,
  runbook: Runbook = rotateKey,
  databaseAheadMs?: number,
): Promise<World> {
  const home = await mkdtemp(join(tmpdir(), 'lifeboat-runner-'));
  const now = () => new Date(Date.now() + (databaseAheadMs ?? 0));
  const stampedBy = databaseAheadMs === undefined ? 'machine' : 'database';
  const opened = await openSqliteStore({
    home,
    by: 'tester',
    signer: freshSigner(),
    projections: PROJECTIONS,
    now,
  });
  const journal: Journal = { ...opened, stampedBy };
  onTestFinished(async () => {
    await journal.close();
    await rm(home, { recursive: true, force: true });
  });
  const runId = await startRun(journal, {
    runbook,
    instance: 'orders',
    input: { instance: 'orders' },
    mode: 'REHEARSAL',
    operator: 'tester',
    tool: { name: 'lifeboat', version: '0', node: 'v24' },
  });
  const read = () => journal.read(`run/${runId}`);
  return {
    home,
    journal,
    runId,
    takeUp: (overrides) =>
      takeUp({
        journal,
        runbook,
        runId,
        instance: 'orders',
        activities,
        take: async (key) => ({ fingerprint: 'bbbbbbbbbbbb', length: key.length }),
        now: () => new Date(),
        seal: async () => undefined,
        leaveWhenPaused: true,
        leaveGraceMs: 20,
        ...overrides,
      }),
    types: async () => (await read()).map(({ type }) => type),
    bodies: async (type) => (await read()).filter((entry) => entry.type === type).map(({ body }) => body),
  };
}

/** Activities that all succeed in the first way that the machine knows; `changes` replaces some. */
export function obedient(
  changes: Readonly<Record<string, AnyActivity>> = {},
): Readonly<Record<string, AnyActivity>> {
  const verbs = [
    'preflight',
    'recheck',
    'downloadBackup',
    'storeKey',
    'readBackKey',
    'waitForBackup',
    'negativeTest',
  ];
  const reads = [...verbs, 'verifyBackup', 'recordRotation', 'setKey'].map((verb): [string, AnyActivity] => [
    verb,
    { kind: 'read', run: async () => ({ ok: true, output: firstOutput(verb) }) },
  ]);
  return { ...Object.fromEntries(reads), createBackup: sending(async () => landed(4)), ...changes };
}

/** A `once` activity from a send and, for a lost answer, a judgement. */
export function sending(
  send: () => Promise<unknown>,
  judge: () => Promise<unknown> = async () => ({ verdict: 'absent', evidence: {} }),
): AnyActivity {
  return {
    kind: 'once',
    prepare: async () => ({ ok: true, output: { ids: [1, 2, 3] } }),
    send: send as never,
    judge: judge as never,
  };
}

export function landed(id: number) {
  return { sent: 'landed', output: { landed: true, id, adopted: false } };
}

export const LOST = {
  sent: 'unknown',
  failure: { code: 'service.timeout', shortMessage: 'no answer', hints: [], evidence: {} },
};

function firstOutput(verb: string): unknown {
  const [first] = outcomesOf(verb);
  return first !== undefined && 'output' in first ? first.output : undefined;
}

/** Resolves when the run waits in that state. */
export function reaches(run: Run, state: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (statePath(run.state().snapshot) === state) resolve();
    };
    run.subscribe(look);
    look();
    run.ended.then(
      () => reject(new Error(`the run ended before ${state}, at ${statePath(run.state().snapshot)}`)),
      reject,
    );
  });
}

/** Answers from the start up to the question for the name, accepting every recommendation. */
export async function answerToTheName(run: Run): Promise<void> {
  await reaches(run, 'oldBackup.asking');
  await run.answer({ event: 'operator.prove' });
  await reaches(run, 'key.choosing');
  await run.answer({ event: 'operator.generate' });
  await reaches(run, 'confirm.asking');
}

/** Answers that question too. */
export async function answerToTheChange(run: Run): Promise<void> {
  await answerToTheName(run);
  await run.answer({ event: 'operator.confirm', typed: 'orders' });
}

/** A world whose run has ended after the answers of `answerToTheChange`. */
export async function rotated(): Promise<World & { readonly run: Run }> {
  const world = await makeWorld(obedient());
  const run = await world.takeUp();
  await answerToTheChange(run);
  await run.ended;
  return { ...world, run };
}

/** How a call in doubt is asked about that no run asks about. */
export function asking(journal: Journal, activities: Look['activities']): Look {
  return {
    journal,
    who: { name: 'tester' },
    url: 'https://service.example/service-instances/orders',
    activities,
    signal: new AbortController().signal,
    sleep: async () => undefined,
    report: () => undefined,
  };
}
