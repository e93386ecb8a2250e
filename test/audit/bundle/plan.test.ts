import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeBundle } from '../../../src/audit/bundle/make-bundle.ts';
import { unpackFiles } from '../../../src/audit/bundle/pack.ts';
import { openTranscript, transcriptOf } from '../../../src/audit/transcript/transcript.ts';
import type { NewEntry } from '../../../src/store/journal.ts';
import { type PlanChild, runEntry } from '../../../src/store/run-entries.ts';
import { createSecretGuard } from '../../../src/store/secret-guard.ts';
import { openSqliteForReading } from '../../../src/store/sqlite/open.ts';
import { freshSigner } from '../../store/fresh-signer.ts';
import { append } from './scene.ts';
import { openVerifiers, type Verifiers } from './verifiers.ts';

const PLAN = '01K0000000000000000000000P';
const CHILDREN = ['01K0000000000000000000000A', '01K0000000000000000000000B'];
const STRANGER = '01K0000000000000000000000X';
const signer = freshSigner();
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-plan-bundle-'));
const home = join(folder, 'home');
let verifiers: Verifiers;

beforeAll(async () => {
  verifiers = openVerifiers();
  const child = (run: string, plan?: PlanChild): NewEntry[] => {
    const transcript = openTranscript(home, run);
    transcript.write({
      ...{ kind: 'service', to: 'orders', at: new Date(1000), method: 'POST', url: `https://${run}/` },
      ...{ headers: {}, body: '{}', secrets: [], hidden: [], status: 200, error: undefined },
      ...{ answerHeaders: {}, bytes: 9, sha256: '', answer: undefined, ms: 7 },
    });
    const kept = runEntry(run, 'transcript.kept', transcript.keep());
    transcript.close();
    return [startOf(run, 'orders', plan), kept, closed(run)];
  };
  const step = (run: string, at: number): PlanChild => ({
    ...{ run, group: 'data', step: 'recover', lane: `db-${at}`, attempt: 1 },
  });
  await append(
    home,
    signer,
    [startOf(PLAN, 'plan.west')],
    CHILDREN.flatMap((run, at) => child(run, step(PLAN, at))),
    [
      { stream: `plan/${PLAN}`, type: 'plan.wish', body: { label: 'skip it' } },
      {
        stream: 'instance/orders',
        type: 'key.set',
        body: { fingerprint: '0a1b2c3d4e5f', run: CHILDREN[0] ?? '' },
      },
      ...child(STRANGER, step(STRANGER, 9)),
      closed(PLAN),
    ],
  );
});
afterAll(() => {
  verifiers.close();
  rmSync(folder, { recursive: true, force: true });
});

function startOf(run: string, instance: string, plan?: PlanChild): NewEntry {
  return runEntry(run, 'run.started', {
    ...{ runbook: 'plan', version: '1', instance, input: {}, mode: 'LIVE' as const, operator: 'Robin' },
    tool: { name: 'lifeboat', version: '0.1.0', node: 'v24' },
    ...(plan === undefined ? {} : { plan }),
  });
}

function closed(run: string): NewEntry {
  return runEntry(run, 'run.closed', { outcome: 'done', proven: true, summary: [], deviations: [] });
}

async function bundle(
  children: readonly string[],
  requestsOf = (run: string): string => run,
): Promise<Buffer> {
  const journal = await openSqliteForReading({ home, projections: [] });
  try {
    return await makeBundle({
      ...{
        journal,
        runId: PLAN,
        signer,
        notes: [],
        anchors: [],
        madeAt: new Date(0),
        madeBy: 'lifeboat 0.1.0',
      },
      guard: createSecretGuard(),
      children,
      instances: ['orders'],
      documents: new Map(),
      transcript: (run) => (run === PLAN ? undefined : transcriptOf(home, requestsOf(run))),
    });
  } finally {
    await journal.close();
  }
}

async function verdictsOn(tar: Buffer): Promise<readonly number[]> {
  return [...new Set(Object.values(await verifiers.codes(tar, { publicKey: signer.publicKey })))];
}

describe("the bundle of a plan's run", () => {
  test('has the journal and the requests of each run that the plan started, and every verifier accepts it', async () => {
    const tar = await bundle(CHILDREN);
    expect([...unpackFiles(tar).files.keys()]).toEqual(
      expect.arrayContaining([
        'journal.jsonl',
        'wishes.jsonl',
        'ledger/orders.jsonl',
        ...CHILDREN.flatMap((run) => [`children/${run}/journal.jsonl`, `children/${run}/transcript.jsonl`]),
      ]),
    );
    expect(await verdictsOn(tar)).toEqual([0]);
  });

  test('is refused by every verifier where it includes a run that another plan started', async () => {
    expect(await verdictsOn(await bundle([...CHILDREN, STRANGER]))).toEqual([1]);
  });

  test('is refused by every verifier where the requests are those of another run', async () => {
    expect(await verdictsOn(await bundle(CHILDREN, () => CHILDREN[0] ?? ''))).toEqual([1]);
  });
});
