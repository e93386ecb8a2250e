import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { challengeId, challengeText } from '../../../src/approvals/challenge.ts';
import { auditAnchorCommand } from '../../../src/commands/audit/anchor.ts';
import { auditExportCommand } from '../../../src/commands/audit/export.ts';
import { auditVerifyCommand } from '../../../src/commands/audit/verify.ts';
import { openKeys } from '../../../src/commands/workspace.ts';
import { Secret } from '../../../src/secret.ts';
import type { NewEntry } from '../../../src/store/journal.ts';
import { createSigner } from '../../../src/store/log/signer.ts';
import { runEntry } from '../../../src/store/run-entries.ts';
import { openSqliteJournal } from '../../../src/store/sqlite-journal.ts';
import { somePeople } from '../../approvals/people.ts';
import { openSealed } from '../../audit/sealed-journal.ts';
import { freshSigner } from '../../audit/signing.ts';
import { temporaryHome } from '../../store/temporary-home.ts';

const RUN = '01K0000000000000000000000A';
const OTHER = '01K0000000000000000000000B';
const started = runEntry(RUN, 'run.started', {
  runbook: 'rotate-key',
  version: '1',
  instance: 'orders',
  input: { instance: 'orders' },
  mode: 'LIVE',
  tool: { name: 'lifeboat', version: '0.1.0', node: 'v24' },
  operator: 'Robin',
});
const closed = runEntry(RUN, 'run.closed', { outcome: 'x', proven: true, summary: [], deviations: [] });
const fact: NewEntry = {
  stream: 'instance/orders',
  type: 'key.added',
  body: { fingerprint: '0a1b2c3d4e5f' },
};

let home: string;
let said: { out: string; err: string };
const context = () => ({
  env: {
    LIFEBOAT_HOME: home,
    LIFEBOAT_KEYCHAIN: 'vault',
    LIFEBOAT_PASSPHRASE_FILE: join(home, '..', 'pass'),
    LIFEBOAT_CONFIG: join(home, '..', 'lifeboat.yaml'),
  },
  version: '0.1.0',
  configPath: undefined,
  stdin: { isTTY: false },
  stdout: { write: (text: string) => (said.out += text) },
  stderr: { write: (text: string) => (said.err += text) },
});

beforeEach(() => {
  const folder = temporaryHome();
  home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(folder, 'pass'), 'a passphrase of some length', { mode: 0o600 });
  writeFileSync(
    join(folder, 'lifeboat.yaml'),
    'instances:\n  orders: { url: "https://x.example/1", revision: 62, token: { env: T } }\n',
  );
  said = { out: '', err: '' };
});
afterEach(() => vi.unstubAllEnvs());

/** Entries of a run, signed with the key of the key store, and some that were appended without it. */
async function stored(own: readonly NewEntry[], appended: readonly NewEntry[] = []): Promise<void> {
  const keyring = await openKeys(context() as never);
  await keyring.fingerprint(new Secret('any'));
  await written(own, appended, createSigner(await keyring.signingKey()));
}

/** The same with a key that lies beside what it signs alone. */
async function written(
  own: readonly NewEntry[],
  appended: readonly NewEntry[] = [],
  signer = freshSigner(),
): Promise<void> {
  const { journal, close } = await openSealed({ home, signer });
  for (const entry of own) await journal.append([entry]);
  await close();
  const forger = await openSqliteJournal({ home, by: 'tester' });
  for (const entry of appended) await forger.append([entry]);
  await forger.close();
}

const verify = (words: readonly string[], flags: Parameters<typeof auditVerifyCommand>[2] = {}) =>
  auditVerifyCommand(context() as never, words, flags);

describe('audit export', () => {
  test('does not sign what is not intact, and says what to do', async () => {
    await stored([started, closed], [closed]);
    const out = join(home, 'x.tar');
    const exported = auditExportCommand(context() as never, [RUN], { out });
    await expect(exported).rejects.toMatchObject({
      code: 'evidence.not-intact',
      exitCode: 1,
      hints: [expect.stringContaining(`lifeboat audit verify ${RUN}`), expect.stringContaining('copy ')],
    });
    expect(existsSync(out)).toBe(false);
    const lines = auditExportCommand(context() as never, [RUN], { lines: true });
    await expect(lines).rejects.toMatchObject({ code: 'evidence.not-intact' });
  });

  test('signs a tail that nobody has signed yet, and says so aloud and in the bundle', async () => {
    await stored([started, fact], [closed]);
    const out = join(home, 'x.tar');
    expect(await auditExportCommand(context() as never, [RUN], { out })).toBe(0);
    expect(said.err).toContain(`warning: entry 2 of run/${RUN} is not signed`);
    expect(await verify([out])).toBe(0);
    expect(said.out).toContain(
      `within these limits: entry 2 of run/${RUN} was signed only when this bundle was made\n`,
    );
  });
});

test('the key of the key store is the one that counts at home, and any other is told', async () => {
  await stored([started, closed]);
  expect(await verify([])).toBe(0);
  expect(said.out).not.toContain('the key beside the journal is believed');
  rmSync(join(home, 'lifeboat.db'));
  rmSync(join(home, 'checkpoints'), { recursive: true });
  await written([started, closed]);
  said.out = '';
  expect(await verify([])).toBe(0);
  expect(said.out).toContain(`within these limits: heads of run/${RUN} are signed by the key `);
  expect(said.out).toContain('believed: the key beside the journal is believed');
});

test('an anchor of a ledger is printed, and betrays one that was rolled back', async () => {
  await written([started, fact, fact]);
  expect(await auditAnchorCommand(context() as never, [], { instance: 'orders' })).toBe(0);
  const anchor = said.out.trim();
  expect(anchor).toMatch(/^lifeboat:instance\/orders:2:[0-9a-f]{20}:[0-9a-f]{4}$/u);
  expect(await verify([RUN], { anchor: [anchor] })).toBe(0);
  home = join(home, '..', 'earlier');
  mkdirSync(home, { mode: 0o700 });
  await written([started, fact]);
  expect(await verify([], { anchor: [anchor] })).toBe(1);
  expect(said.out).toContain('instance/orders ends at entry 1, but the anchor saw entry 2');
});

const noOpenSsh = spawnSync('ssh-keygen', ['-?']).error !== undefined && process.env['CI'] === undefined;

describe.skipIf(noOpenSsh)('the signatures of approvals', () => {
  const askedIn = (run: string) => {
    const fields = {
      order: 'restore backup 1 into orders',
      target: 'orders',
      requester: 'Robin',
      plan: '0'.repeat(64),
    };
    const expires = '2026-11-21T04:00:00.000Z';
    const text = challengeText({
      ...fields,
      run,
      runbook: 'restore-in-place 1',
      mode: 'LIVE',
      instance: 'orders',
      url: 'https://x.example/1',
      state: 'confirm',
      entry: '1',
      asked: '2026-11-21T03:00:00.000Z',
      expires,
      prompt: 'go on?',
      facts: [],
      overrides: [],
      calls: [],
    });
    return { ...fields, text, expiresAt: expires };
  };
  const papers = (done: Parameters<typeof somePeople>[0], textOf: string, signature?: string) => {
    const asked = askedIn(textOf);
    const person = somePeople(done).person('kim@example.com');
    const listed = execFileSync('ssh-keygen', ['-l', '-f', `${person.keyFile}.pub`], { encoding: 'utf8' });
    const challenge = challengeId(asked.text);
    return [
      runEntry(RUN, 'approval.asked', { ...asked, challenge }),
      runEntry(RUN, 'approval.given', {
        challenge,
        approver: person.name,
        key: listed.split(' ')[1] ?? '',
        publicKey: person.publicKey,
        signature: signature ?? person.sign(asked.text),
        method: 'ssh',
        allowedSigners: '0'.repeat(64),
        allowedBy: person.line().trim(),
      }),
    ];
  };

  test('are checked at home, too', async (done) => {
    await written([started, ...papers(done, RUN)]);
    expect(await verify([]), said.out).toBe(0);
    expect(said.out).toContain('nothing was changed, removed or reordered\n');
  });

  test('that are none are found', async (done) => {
    await written([started, ...papers(done, RUN, 'not a signature')]);
    expect(await verify([RUN])).toBe(1);
    expect(said.out).toMatch(/problem: run\/\S+ entry 3: \S+\.sig does not verify/u);
  });

  test('over the text of another run are found', async (done) => {
    await written([started, ...papers(done, OTHER)]);
    expect(await verify([RUN])).toBe(1);
    expect(said.out).toContain('the approval was not given for what was asked: ');
  });

  test('are told to be unchecked where there is no tool for it, in the verdict and as JSON', async (done) => {
    await written([started, ...papers(done, RUN)]);
    vi.stubEnv('PATH', home);
    expect(await verify([])).toBe(0);
    const words = '1 approval signature was not checked: ssh-keygen is not on this machine';
    expect(said.out).toContain(`within these limits: ${words}\n`);
    said.out = '';
    expect(await verify([], { json: true })).toBe(0);
    expect(JSON.parse(said.out)).toMatchObject({
      ok: true,
      findings: [{ severity: 'warning', code: 'approval.unchecked', shortMessage: words }],
      verdict: expect.stringContaining(words),
    });
  });
});
