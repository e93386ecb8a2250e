import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { challengeId } from '../../../src/approvals/challenge.ts';
import { packFiles, unpackFiles } from '../../../src/audit/bundle/pack.ts';
import { verifyBundle } from '../../../src/audit/bundle/verify-bundle.ts';
import type { NewEntry } from '../../../src/store/journal.ts';
import type { Anchor } from '../../../src/store/log/anchor.ts';
import { KEY_ENDORSED, LOSS_ACCEPTED } from '../../../src/store/log/log-entries.ts';
import { endorsementOf } from '../../../src/store/log/named-keys.ts';
import type { Signer } from '../../../src/store/log/signer.ts';
import { runEntry } from '../../../src/store/run-entries.ts';
import { freshSigner } from '../../store/fresh-signer.ts';
import { linesIn } from './attack.ts';
import { append, bundleOf, ENTRIES, type Evidence, layOut, makeEvidence, OTHER, RUN } from './scene.ts';
import { byNode, type Given, openVerifiers, type Verifiers } from './verifiers.ts';

const STREAM = `run/${RUN}` as const;
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-limits-'));
let made: Evidence;
let verifiers: Verifiers;
let copies = 0;

beforeAll(async () => {
  verifiers = openVerifiers();
  made = await makeEvidence(join(folder, 'home'));
});
afterAll(() => {
  verifiers.close();
  rmSync(folder, { recursive: true, force: true });
});

const fresh = (what: string) => {
  copies += 1;
  return join(folder, `${copies}.${what}`);
};

/** The home with further entries, and the head after them. */
async function goneOn(
  ...entries: readonly NewEntry[]
): Promise<{ readonly evidence: Evidence; readonly notes: readonly string[]; readonly anchor: Anchor }> {
  const home = fresh('home');
  cpSync(made.home, home, { recursive: true });
  return { evidence: { ...made, home }, ...(await append(home, made.signer, entries)) };
}

/** The exit code, which is the same for every verifier. */
async function codeOf(tar: Buffer, given: Given = {}): Promise<number> {
  const codes = await verifiers.codes(tar, given);
  expect(new Set(Object.values(codes)).size, JSON.stringify(codes)).toBe(1);
  return codes['audit'] ?? -1;
}

const filesOf = (tar: Buffer) => unpackFiles(tar).files;
const findingsOf = (tar: Buffer, given: Given = {}) =>
  verifyBundle(filesOf(tar), given).findings.filter(({ severity }) => severity !== 'note');

const note: NewEntry = { stream: STREAM, type: 'note', body: null };
const closed = runEntry(RUN, 'run.closed', { outcome: 'x', proven: true, summary: [], deviations: [] });
const key = () => ({ publicKey: made.signer.publicKey });

test('a bundle holds the run, its ledgers and what the log says about itself, and nothing else of the journal', async () => {
  const { evidence } = await goneOn({
    stream: 'instance/billing',
    type: 'key.set',
    body: { fingerprint: 'f00df00df00d', run: 'x' },
  });
  const tar = await bundleOf(evidence);
  const files = filesOf(tar);
  const streams = verifyBundle(files, {}).streams.map(({ stream, entries }) => [stream, entries]);
  expect(new Map(streams as [string, number][])).toEqual(
    new Map([
      [STREAM, ENTRIES],
      ['instance/orders', 2],
      ['store/log', 1],
    ]),
  );
  expect(tar.includes(OTHER)).toBe(true);
  expect(linesIn(files, 'journal.jsonl').join('')).not.toContain(OTHER);
  expect(tar.includes('f00df00df00d')).toBe(false);
});

test('a bundle of a live run holds what was durable, under the head that was signed over it', async () => {
  const { evidence, anchor } = await goneOn(note);
  const tar = await bundleOf(evidence);
  expect(await codeOf(tar, { ...key(), anchors: [anchor] })).toBe(0);
  expect(linesIn(filesOf(tar), 'journal.jsonl')).toHaveLength(ENTRIES + 1);
});

test('without a key a bundle is only consistent; the key from elsewhere makes it intact', async () => {
  const tar = await bundleOf(made);
  expect(findingsOf(tar)).toMatchObject([{ severity: 'limit', code: 'key.none' }]);
  expect(await codeOf(tar)).toBe(3);
  expect(findingsOf(tar, key())).toEqual([]);
  expect(await codeOf(tar, key())).toBe(0);
  expect(verifyBundle(filesOf(tar), key()).pins).toMatchObject([{ place: 'checkpoint.note', size: 21 }]);
});

test('an anchor alone pins the log up to it, and the words say how far', async () => {
  const given = { anchors: [made.anchor] };
  const tar = await bundleOf(made);
  expect(await codeOf(tar, given)).toBe(3);
  const [limit] = findingsOf(tar, given);
  expect(limit?.shortMessage).toContain('only the first 11 entries of the log are pinned, by the anchor');
});

test('an anchor from anywhere in the log is shown when the export was given it', async () => {
  const { evidence, anchor } = await goneOn({ stream: 'instance/billing', type: 'note', body: 1 });
  const { anchor: later } = await goneOn(note, note, note);
  await append(evidence.home, made.signer, [note]);
  const anchors = [anchor];
  const without = await bundleOf(evidence);
  expect(findingsOf(without, { ...key(), anchors })).toMatchObject([
    { severity: 'limit', code: 'anchor.not-shown' },
  ]);
  expect(await codeOf(without, { ...key(), anchors })).toBe(3);
  const shown = await bundleOf(evidence, { anchors });
  expect(await codeOf(shown, { ...key(), anchors })).toBe(0);
  expect(await codeOf(shown, { ...key(), anchors: [{ ...anchor, root: '0'.repeat(20) }] })).toBe(1);
  expect(
    await codeOf(shown, { ...key(), anchors: [{ ...anchor, origin: 'lifeboat/0123456789abcdef' }] }),
  ).toBe(1);
  // It saw more than existed when the bundle was made.
  expect(findingsOf(shown, { ...key(), anchors: [{ ...later, size: 99 }] })).toMatchObject([
    { code: 'anchor.later' },
  ]);
  expect(await codeOf(shown, { ...key(), anchors: [{ ...later, size: 99 }] })).toBe(3);
});

test('a checkpoint of a place that does not fit the log is left out', async () => {
  const foreign = await makeEvidence(fresh('home'));
  const notes = [...foreign.notes, ...made.notes, 'nothing'];
  const files = filesOf(await bundleOf({ ...made, notes }));
  const kept = [...files.keys()].filter((name) => name.startsWith('checkpoints/'));
  // The newest is the head itself.
  expect(kept.map((name) => String(files.get(name)))).toEqual(made.notes.slice(0, 3));
});

/** A log in which `by` endorsed another key, which continues the log. */
async function endorsedBy(by: Signer, other: Signer, isEndorsed: boolean): Promise<Evidence> {
  const evidence = await makeEvidence(fresh('home'), by);
  const endorsed = endorsementOf(other.publicKey, evidence.anchor.origin, by);
  const endorsement: NewEntry = {
    stream: 'store/log',
    type: isEndorsed ? KEY_ENDORSED : 'note',
    body: { note: endorsed, reason: 'a colleague' },
  };
  const { notes } = await append(evidence.home, by, [endorsement]);
  await append(evidence.home, other, [note]);
  return { ...evidence, signer: other, notes: [...evidence.notes, ...notes] };
}

test('a key that a known key endorsed in the log counts like that key', async () => {
  const [first, second] = [freshSigner(), freshSigner()];
  const evidence = await endorsedBy(first, second, true);
  const tar = await bundleOf(evidence);
  expect(await codeOf(tar, { publicKey: first.publicKey })).toBe(0);
  // Its signature suffices: no checkpoint of the first key is needed.
  const alone = await bundleOf({ ...evidence, notes: [] });
  expect(await codeOf(alone, { publicKey: first.publicKey })).toBe(0);
});

test('a key that is only announced in the log counts when it is given, and for nothing else', async () => {
  const [first, second] = [freshSigner(), freshSigner()];
  const tar = await bundleOf(await endorsedBy(first, second, false));
  expect(await codeOf(tar, { publicKey: first.publicKey })).toBe(1);
  expect(findingsOf(tar, { publicKey: second.publicKey })).toEqual(
    Array.from({ length: 5 }, () =>
      expect.objectContaining({ severity: 'limit', code: 'checkpoint.unknown-key' }),
    ),
  );
  expect(await codeOf(tar, { publicKey: second.publicKey })).toBe(3);
  expect(await codeOf(tar, { publicKey: first.publicKey + second.publicKey })).toBe(0);
});

test('an accepted loss is in every later bundle', async () => {
  const lost = { stream: 'store/log', type: LOSS_ACCEPTED } as const;
  const body = { reason: 'the disk died', size: 21, checkpoints: [], calls: [] };
  const tar = await bundleOf((await goneOn({ ...lost, body })).evidence);
  expect(findingsOf(tar, key())).toMatchObject([{ severity: 'limit', code: 'loss.accepted' }]);
  expect(await codeOf(tar, key())).toBe(3);
});

test('entries after the end of a run are found', async () => {
  const tar = await bundleOf((await goneOn(closed, closed)).evidence);
  expect(findingsOf(tar, key())).toMatchObject([{ code: 'run.after-end', seq: ENTRIES + 2 }]);
  expect(await codeOf(tar, key())).toBe(1);
});

test.each([
  ['open', 'transcript.tail', 'limit', 3],
  ['closed', 'transcript.added', 'problem', 1],
])(
  'lines after the recorded end of the transcript of an %s run are found',
  async (state, code, severity, exit) => {
    const { evidence } = await goneOn(...(state === 'closed' ? [closed] : [note]));
    expect(await codeOf(await bundleOf(evidence), key())).toBe(0);
    appendFileSync(join(evidence.home, `transcripts/${RUN}.jsonl`), '{"no":4,"method":"POST"}\n');
    const tar = await bundleOf(evidence);
    expect(findingsOf(tar, key())).toMatchObject([{ code, severity, stream: STREAM }]);
    expect(await codeOf(tar, key())).toBe(exit);
  },
);

test('the verifier in the bundle says that it did not check the signatures of approvals', async () => {
  const text = `lifeboat approval request, version 1\n\nrun: ${RUN}\n`;
  const challenge = challengeId(text);
  const asked = runEntry(RUN, 'approval.asked', {
    ...{ challenge, text, target: 'orders', order: 'x', plan: '0'.repeat(64) },
    requester: 'Robin',
    expiresAt: '2026-01-01T00:00:00Z',
  });
  const given = runEntry(RUN, 'approval.given', {
    challenge,
    approver: 'kim@example.com',
    key: 'SHA256:x',
    publicKey: 'ssh-ed25519 AAAA',
    signature: 'not a signature',
    method: 'ssh',
    allowedSigners: '0'.repeat(64),
  });
  const tar = await bundleOf((await goneOn(asked, given)).evidence);
  const { status, stdout } = byNode(layOut(filesOf(tar), fresh('folder')));
  expect([status, stdout]).toEqual([
    3,
    expect.stringContaining(`entry ${ENTRIES + 2} was not checked: README.txt`),
  ]);
});

test('a tar of many blocks is read as it was made, and no other encoding of it is accepted', () => {
  const files = new Map([511, 512, 513, 0].map((size, at) => [`${at}`, Buffer.alloc(size, 7)]));
  const tar = packFiles(files);
  expect(unpackFiles(tar)).toEqual({ files, sound: true });
  for (const other of [tar.subarray(0, -512), Buffer.concat([tar, Buffer.alloc(512)]), Buffer.alloc(0)])
    expect(unpackFiles(other).sound).toBe(false);
  expect(() => packFiles(new Map([['x'.repeat(100), Buffer.alloc(0)]]))).toThrow(RangeError);
});
