import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NOTE, SUMS } from '../../../src/audit/bundle/documents.ts';
import { openLogBundle } from '../../../src/audit/bundle/log-bundle.ts';
import { type BundleFiles, packFiles } from '../../../src/audit/bundle/pack.ts';
import { verifyBundle } from '../../../src/audit/bundle/verify-bundle.ts';
import { transcriptOf } from '../../../src/audit/transcript/transcript.ts';
import { openSqliteForReading } from '../../../src/store/sqlite/open.ts';
import { append, ENTRIES, type Evidence, makeEvidence, OTHER, RUN } from './scene.ts';
import { openVerifiers, type Verifiers } from './verifiers.ts';

const folder = mkdtempSync(join(tmpdir(), 'lifeboat-log-bundle-'));
let made: Evidence;
let verifiers: Verifiers;

beforeAll(async () => {
  verifiers = openVerifiers();
  made = await makeEvidence(join(folder, 'home'));
  await append(made.home, made.signer, [
    { stream: `plan/${RUN}`, type: 'plan.wish', body: { label: 'skip it' } },
  ]);
});
afterAll(() => {
  verifiers.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A bundle of both runs, after `change` and before it is signed. */
async function bundle(change: (files: Map<string, Buffer>) => void = () => {}): Promise<BundleFiles> {
  const { home, signer, notes, anchor } = made;
  const files = new Map<string, Buffer>();
  const journal = await openSqliteForReading({ home, projections: [] });
  try {
    const { run, ledger, finish } = await openLogBundle({
      ...{ journal, signer, madeAt: new Date(0), madeBy: 'lifeboat 0.1.0' },
      put: (name, content) => void files.set(name, Buffer.from(content as string)),
      transcript: (runId) => transcriptOf(home, runId),
    });
    for (const runId of [RUN, OTHER]) await run(runId);
    await ledger('orders');
    await ledger('nobody');
    const sign = await finish(notes, [anchor]);
    change(files);
    const sums = [...files]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, bytes]) => `${hash('sha256', bytes)}  ${name}\n`)
      .join('');
    return files.set(SUMS, Buffer.from(sums)).set(NOTE, Buffer.from(sign(sums)));
  } finally {
    await journal.close();
  }
}

async function verdictsOn(files: BundleFiles): Promise<readonly number[]> {
  const given = { publicKey: made.signer.publicKey, anchors: [made.anchor] };
  return [...new Set(Object.values(await verifiers.codes(packFiles(files), given)))];
}

const requests = `runs/${RUN}/transcript.jsonl`;
const journalOf = (run: string) => `runs/${run}/journal.jsonl`;

/** Puts the entries of one file under the name of another, in the proof as well. */
function renamed(files: Map<string, Buffer>, from: string, to: string): void {
  const bytes = files.get(from);
  if (bytes === undefined) throw new Error(`there is no ${from}`);
  files.delete(from);
  files.set(to, bytes);
  const proof = String(files.get('proof.json'));
  files.set('proof.json', Buffer.from(proof.replace(JSON.stringify(from), JSON.stringify(to))));
}

describe('the bundle of many runs of a log', () => {
  test('has a folder for each run and shared parts once, and every verifier accepts it', async () => {
    const files = await bundle();
    const streams = verifyBundle(files, {}).streams.map(({ stream, entries }) => [stream, entries]);
    expect(new Map(streams as [string, number][])).toEqual(
      new Map([
        [`run/${RUN}`, ENTRIES],
        [`plan/${RUN}`, 1],
        [`run/${OTHER}`, ENTRIES],
        ['instance/orders', 2],
        ['store/log', 1],
      ]),
    );
    expect([...files.keys()]).toEqual(
      expect.arrayContaining([journalOf(RUN), `runs/${OTHER}/transcript.jsonl`]),
    );
    expect([...files.keys()].filter((name) => name.startsWith('checkpoints/'))).toHaveLength(4);
    expect(await verdictsOn(files)).toEqual([0]);
  });

  test.each<[string, (files: Map<string, Buffer>) => void]>([
    ['a run under the name of another', (files) => renamed(files, journalOf(RUN), journalOf('01K0X'))],
    ['a run beside the manifest', (files) => renamed(files, journalOf(RUN), 'journal.jsonl')],
    [
      'a run as the child of a plan',
      (files) => renamed(files, journalOf(RUN), `children/${RUN}/journal.jsonl`),
    ],
    [
      'requests under the name of another run',
      (files) => renamed(files, `runs/${RUN}/wishes.jsonl`, `runs/${OTHER}/wishes.jsonl`),
    ],
    [
      'a ledger under the name of a run',
      (files) => renamed(files, 'ledger/orders.jsonl', journalOf('orders')),
    ],
    ['no text of an approval', (files) => void files.delete('approvals/00112233445566ff.txt')],
    ['no entries of the log about itself', (files) => void files.delete('log.jsonl')],
  ])('is refused by every verifier where it has %s', async (_, change) => {
    expect(await verdictsOn(await bundle(change))).toEqual([1]);
  });

  test('is refused by every verifier where the requests are those of another run, or a file was changed', async () => {
    const cut = (files: Map<string, Buffer>) => void files.set(requests, Buffer.from('{}\n'));
    expect(await verdictsOn(await bundle(cut))).toEqual([1]);
    const files = new Map(await bundle());
    files.set('lifeboat.pub', Buffer.from(`${files.get('lifeboat.pub')}\n`));
    expect(await verdictsOn(files)).toEqual([1]);
  });

  test('is refused by every verifier where the manifest is that of another log', async () => {
    const files = new Map(await bundle());
    const note = String(files.get(NOTE));
    files.set(NOTE, Buffer.from(note.replace(/^log lifeboat\/.{16}$/mu, 'log lifeboat/0123456789abcdef')));
    expect(await verdictsOn(files)).toEqual([1]);
  });
});
