import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { challengeId } from '../../../src/approvals/challenge.ts';
import { auditVerify } from '../../../src/audit/audit.ts';
import { believedBy, verdictOf } from '../../../src/audit/audit-verdict.ts';
import { unpackFiles } from '../../../src/audit/bundle/tar.ts';
import { verifyBundle } from '../../../src/audit/bundle/verify-bundle.ts';
import type { NewEntry } from '../../../src/store/journal.ts';
import { anchorOf, parseAnchor } from '../../../src/store/log/anchor.ts';
import { runEntry } from '../../../src/store/run-entries.ts';
import { openSqliteJournal } from '../../../src/store/sqlite-journal.ts';
import { openSealed } from '../sealed-journal.ts';
import { freshSigner } from '../signing.ts';
import { listAnew } from './attack.ts';
import { bundleOf, ENTRIES, type Evidence, layOut, makeEvidence, OTHER, RUN } from './scene.ts';

const VERIFIER = resolve('src/audit/bundle/verify.mjs');
const STREAM = `run/${RUN}` as const;
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-limits-'));
const keyFile = join(folder, 'known.pub');
let made: Evidence;
let copies = 0;

beforeAll(async () => {
  made = await makeEvidence(join(folder, 'home'));
  writeFileSync(keyFile, made.signer.publicKey);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fresh = (what: string) => {
  copies += 1;
  return join(folder, `${copies}.${what}`);
};

/** The home, with entries that were appended by somebody who cannot sign. */
async function appended(...entries: readonly NewEntry[]): Promise<Evidence> {
  const home = fresh('home');
  cpSync(made.home, home, { recursive: true });
  const journal = await openSqliteJournal({ home, by: 'tester' });
  for (const entry of entries) await journal.append([entry]);
  await journal.close();
  return { home, signer: made.signer };
}

/** The same by the one who can. */
async function signed(...entries: readonly NewEntry[]): Promise<Evidence> {
  const home = fresh('home');
  cpSync(made.home, home, { recursive: true });
  const { journal, close } = await openSealed({ home, signer: made.signer });
  for (const entry of entries) await journal.append([entry]);
  await close();
  return { home, signer: made.signer };
}

async function filesOf(evidence: Evidence, runId?: string): Promise<Map<string, Buffer>> {
  return new Map((await unpackFiles(await bundleOf(evidence, runId))).files);
}

/** What the verifier in the bundle says of it. */
function alone(files: ReadonlyMap<string, Buffer>, ...words: string[]) {
  const place = layOut(files, fresh('folder'));
  const { status, stdout } = spawnSync(process.execPath, [VERIFIER, place, ...words], { encoding: 'utf8' });
  return { status, stdout };
}

const note = { stream: STREAM, type: 'note', body: null } as const;
const closed = runEntry(RUN, 'run.closed', { outcome: 'x', proven: true, summary: [], deviations: [] });

test('entries that were signed only when the bundle was made are named by both verifiers and in README.txt', async () => {
  const files = await filesOf(await appended(note, closed));
  const words = `entries ${ENTRIES + 1} to ${ENTRIES + 2} of ${STREAM} were signed only when this bundle was made`;
  const report = verifyBundle(files, { publicKey: made.signer.publicKey });
  expect(report.ok).toBe(true);
  expect(verdictOf(report)).toBe(`nothing was changed, removed or reordered within these limits: ${words}`);
  expect(alone(files, '--public-key', keyFile)).toEqual({
    status: 0,
    stdout: expect.stringContaining(`nothing was changed within these limits\nlimit: ${words}\n`),
  });
  expect(String(files.get('README.txt'))).toContain(`${words}.`);
  expect(JSON.parse(String(files.get('manifest.json'))).signedTo[STREAM]).toBe(ENTRIES);
});

test('a bundle of a record that was signed to its end has no limit, and does not speak of one', async () => {
  const files = await filesOf(made);
  expect(verdictOf(verifyBundle(files, {}))).toBe('nothing was changed, removed or reordered');
  expect(alone(files).stdout).not.toContain('limit');
  expect(String(files.get('README.txt'))).not.toContain('only when');
});

test('a manifest of earlier days, which does not say how far the record was signed, is still read', async () => {
  const files = await filesOf(await appended(note));
  const { signedTo: _, keys: __, ...about } = JSON.parse(String(files.get('manifest.json')));
  files.set('manifest.json', Buffer.from(JSON.stringify(about)));
  listAnew(files, made.signer);
  const report = verifyBundle(files, {});
  expect(report.findings).toMatchObject([{ code: 'stream.late', severity: 'warning' }]);
  expect(alone(files).status).toBe(0);
});

test('signed heads that were taken out of a bundle are missed, whoever signed the list anew', async () => {
  const files = await filesOf(made);
  for (const name of files.keys()) if (name.startsWith('checkpoints/')) files.delete(name);
  listAnew(files, made.signer);
  expect(verifyBundle(files, {}).ok).toBe(false);
  expect(alone(files).status).toBe(1);
});

test('what follows the end of a run is found by both verifiers', async () => {
  const files = await filesOf(await signed(closed, closed));
  expect(verifyBundle(files, {}).findings).toMatchObject([{ code: 'run.after-end', seq: ENTRIES + 2 }]);
  expect(alone(files).stdout).toContain(`entry ${ENTRIES + 2} (run.closed) stands behind the end of the run`);
});

test('of a bundle with an anchor alone both verifiers say what the anchor does not pin', async () => {
  const forger = freshSigner();
  const files = await filesOf(made);
  const { head } = JSON.parse(String(files.get('journal.jsonl')).trimEnd().split('\n').at(-1) ?? '');
  const anchor = anchorOf(head);
  for (const name of files.keys()) if (name.startsWith('checkpoints/')) files.delete(name);
  for (const name of ['journal.jsonl', 'ledger/orders.jsonl']) {
    const lines = String(files.get(name)).trimEnd().split('\n');
    const { head: last } = JSON.parse(lines.at(-1) ?? '');
    const text = JSON.stringify({ head: last, note: forger.sign(last) });
    const ascii = text.replace(
      /[^ -~]/gu,
      (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    files.set(name, Buffer.from(`${[...lines.slice(0, -1), ascii].join('\n')}\n`));
  }
  files.set('report.md', Buffer.from('# Forged\n'));
  files.set('lifeboat.pub', Buffer.from(forger.publicKey));
  const { signedTo: _, keys: __, ...about } = JSON.parse(String(files.get('manifest.json')));
  files.set('manifest.json', Buffer.from(JSON.stringify(about)));
  listAnew(files, forger);
  const anchors = [parseAnchor(anchor)];
  const report = verifyBundle(files, { anchors });
  expect(report.ok).toBe(true);
  const words = `only entries 1 to ${ENTRIES} of ${STREAM} are pinned by the anchor; report, plan, ledgers and transcript are believed; the key in the bundle is believed, and what it signs`;
  expect(believedBy('bundle', report, anchors)).toEqual([words]);
  const { status, stdout } = alone(files, '--anchor', anchor);
  expect([status, stdout]).toEqual([0, expect.stringContaining(`believed: ${words}\n`)]);
  expect(stdout).toContain(`${STREAM}: ${ENTRIES} entries, anchor ${anchor}\n`);
});

test.each([
  ['nothing', [], ['whoever made all of this anew is not found']],
  ['the key alone', ['key'], ['a later state of the record']],
  ['both', ['key', 'anchor'], []],
])('given %s both verifiers say what is left to believe', async (_what, given, wanted) => {
  const files = await filesOf(made);
  const { anchor } = JSON.parse(String(files.get('manifest.json')));
  const anchors = given.includes('anchor') ? [parseAnchor(anchor)] : [];
  const publicKey = given.includes('key') ? made.signer.publicKey : undefined;
  const report = verifyBundle(files, { publicKey, anchors });
  expect(believedBy('bundle', report, anchors)).toEqual(wanted.map((text) => expect.stringContaining(text)));
  const words = [
    ...(publicKey === undefined ? [] : ['--public-key', keyFile]),
    ...anchors.flatMap(() => ['--anchor', anchor]),
  ];
  const { stdout } = alone(files, ...words);
  expect(stdout.split('\n').filter((line) => line.startsWith('believed: '))).toEqual(
    wanted.map((text) => expect.stringContaining(text)),
  );
});

test('an anchor of a ledger is taken by both verifiers, beside that of the run', async () => {
  const files = await filesOf(made);
  const { head } = JSON.parse(String(files.get('ledger/orders.jsonl')).trimEnd().split('\n').at(-1) ?? '');
  const anchor = anchorOf(head);
  expect(parseAnchor(anchor)).toMatchObject({ stream: 'instance/orders', seq: head.seq });
  const late = anchorOf({ ...head, seq: head.seq + 1 });
  const { anchor: ofRun } = JSON.parse(String(files.get('manifest.json')));
  for (const [text, ok] of [
    [anchor, true],
    [late, false],
  ] as const) {
    const anchors = [parseAnchor(ofRun), parseAnchor(text)];
    expect(verifyBundle(files, { anchors }).ok).toBe(ok);
    expect((await auditVerify({ home: made.home, anchors })).ok).toBe(ok);
    expect(alone(files, '--anchor', ofRun, '--anchor', text).status).toBe(ok ? 0 : 1);
  }
});

test('only keys that a signed head needs come with the signer’s own', async () => {
  const evidence = await appended();
  writeFileSync(join(evidence.home, 'checkpoints/x.pub'), freshSigner().publicKey);
  expect(String((await filesOf(evidence)).get('lifeboat.pub'))).toBe(made.signer.publicKey);
  const later = freshSigner();
  const files = await filesOf({ home: evidence.home, signer: later });
  expect(String(files.get('lifeboat.pub'))).toBe(later.publicKey + made.signer.publicKey);
  expect(JSON.parse(String(files.get('manifest.json'))).keys).toEqual([
    later.installation,
    made.signer.installation,
  ]);
  expect(verifyBundle(files, {}).ok).toBe(true);
});

test('the verifier in the bundle says that it left the signatures of approvals alone', async () => {
  const text = `lifeboat approval request, version 1\n\nrun: ${RUN}\n`;
  const fields = { challenge: challengeId(text), text, target: 'orders', order: 'x', plan: '0'.repeat(64) };
  const asked = runEntry(RUN, 'approval.asked', {
    ...fields,
    requester: 'Robin',
    expiresAt: '2026-01-01T00:00:00Z',
  });
  const given = runEntry(RUN, 'approval.given', {
    challenge: fields.challenge,
    approver: 'kim@example.com',
    key: 'SHA256:x',
    publicKey: 'ssh-ed25519 AAAA',
    signature: 'not a signature',
    method: 'ssh',
    allowedSigners: '0'.repeat(64),
  });
  const { status, stdout } = alone(await filesOf(await signed(asked, given)));
  expect([status, stdout]).toEqual([
    0,
    expect.stringContaining('limit: 1 approval signatures not checked here: README.txt says how'),
  ]);
  const stolen = runEntry(OTHER, 'approval.asked', {
    ...fields,
    requester: 'Robin',
    expiresAt: '2026-01-01T00:00:00Z',
  });
  const forged = await filesOf(await signed(stolen, { ...given, stream: `run/${OTHER}` }), OTHER);
  expect(alone(forged)).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('was not given for what this run has asked'),
  });
});

test.each([
  ['open', 'transcript.tail', 'warning', 0],
  ['closed', 'transcript.added', 'problem', 1],
])(
  'lines behind what the record of an %s run says of its transcript are found',
  async (state, code, severity, status) => {
    const { home } = made;
    const before = (await unpackFiles(await bundleOf(made))).files.get('transcript.jsonl') ?? Buffer.alloc(0);
    const evidence = state === 'closed' ? await signed(closed) : await signed();
    expect((await auditVerify({ home })).findings).toEqual([]);
    expect((await auditVerify({ home: evidence.home })).findings).toEqual([]);
    appendFileSync(join(evidence.home, `transcripts/${RUN}.jsonl`), '{"no":4,"method":"POST"}\n');
    const found = { code, severity, stream: STREAM };
    expect((await auditVerify({ home: evidence.home })).findings).toMatchObject([found]);
    const files = await filesOf(evidence);
    expect(files.get('transcript.jsonl')?.length).toBeGreaterThan(before.length);
    expect(verifyBundle(files, {}).findings).toMatchObject([found]);
    expect(alone(files)).toMatchObject({
      status,
      stdout: expect.stringContaining('transcript.jsonl goes on after'),
    });
  },
);
