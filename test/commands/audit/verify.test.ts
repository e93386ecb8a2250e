import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { lineHash } from '../../../src/approvals/allowed-signers.ts';
import { challengeId, challengeText } from '../../../src/approvals/challenge.ts';
import { Secret } from '../../../src/base/secret.ts';
import { auditAnchorCommand } from '../../../src/commands/audit/anchor.ts';
import { auditVerifyCommand } from '../../../src/commands/audit/verify.ts';
import type { NewEntry } from '../../../src/store/journal.ts';
import { createSigner, type Signer } from '../../../src/store/log/signer.ts';
import { runEntry } from '../../../src/store/run-entries.ts';
import { somePeople } from '../../approvals/people.ts';
import { openSealed, type SealedJournal } from '../../audit/sealed-journal.ts';
import { openKeys } from '../../bench-kit/key-store.ts';
import { freshSigner } from '../../store/fresh-signer.ts';
import { temporaryHome } from '../../store/temporary-home.ts';

const PASSPHRASE = 'a passphrase of some length';
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
const context = (output?: 'json') => ({
  output,
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
  writeFileSync(join(folder, 'pass'), PASSPHRASE, { mode: 0o600 });
  writeFileSync(
    join(folder, 'lifeboat.yaml'),
    'instances:\n  orders: { url: "https://x.example/service-instances/1", revision: 62, token: { env: T } }\n',
  );
  said = { out: '', err: '' };
});
afterEach(() => vi.unstubAllEnvs());

/** A sealed run, signed with the key of the key store. */
async function stored(...entries: readonly NewEntry[]): Promise<SealedJournal> {
  const keyring = await openKeys(home, PASSPHRASE);
  await keyring.fingerprint(new Secret('any'));
  return written(createSigner(await keyring.signingKey()), ...entries);
}

/** The same with another key. */
async function written(signer: Signer, ...entries: readonly NewEntry[]): Promise<SealedJournal> {
  const sealed = await openSealed({ home, signer });
  for (const entry of entries) await sealed.append(entry);
  await sealed.sealer.sealNow();
  await sealed.close();
  return sealed;
}

const verify = (
  words: readonly string[],
  flags: Parameters<typeof auditVerifyCommand>[2] = {},
  output?: 'json',
) => {
  said = { out: '', err: '' };
  return auditVerifyCommand(context(output) as never, words, flags);
};
const file = (name: string, text: string) => {
  const path = join(home, '..', name);
  writeFileSync(path, text);
  return path;
};

test('a locked key store is named as the cause, and the key of an open one pins the record', async () => {
  const { signer } = await stored(started, closed);
  vi.stubEnv('NO_COLOR', '1');
  const { LIFEBOAT_PASSPHRASE_FILE: _, ...env } = context().env;
  const here = (flags: Parameters<typeof auditVerifyCommand>[2] = {}) => {
    said = { out: '', err: '' };
    return auditVerifyCommand({ ...context('json'), env } as never, [], flags);
  };
  expect(await here()).toBe(3);
  const { findings } = JSON.parse(said.out) as { readonly findings: readonly { readonly code: string }[] };
  const { code, shortMessage } = findings.find((one) => one.code.startsWith('key.')) as never;
  expect(code).toBe('key.locked');
  expect(shortMessage).toContain('the vault file with the signing key is not open');
  const der = (key: string) => key.replace(/-----[^-]+-----|\n/gu, '');
  expect(await here({ storedKey: der(signer.publicKey) }), said.out).toBe(0);
  expect(await here({ storedKey: der(freshSigner().publicKey) })).toBe(1);
  writeFileSync(join(home, '..', 'pass'), 'another passphrase altogether', { mode: 0o600 });
  expect(await verify([], {}, 'json')).toBe(3);
  expect(said.out).toContain('key.locked');
});

test('an audit ends with 0 under the key of this machine or a given one, with 3 without a key, and with 1 if anything is wrong', async () => {
  const { signer } = await stored(started, closed);
  expect(await verify([]), said.out).toBe(0);
  expect(said.out).toContain(`checkpoint in ${join(home, 'checkpoints')}: fits the first 3 entries, up to `);
  expect(said.out).toMatch(/, up to \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n/u);
  expect(said.out).toMatch(
    /3 entries in 2 streams: intact, up to the newest checkpoint of each place: \S+checkpoints \(3 entries, [\d-]{10} [\d:]{8} UTC\)\n/u,
  );
  rmSync(join(home, 'vault.age'));
  expect(await verify([])).toBe(3);
  expect(said.out).toContain(
    '3 entries in 2 streams: consistent, but not all of it is pinned: no key is pinned, ',
  );
  expect(await verify([], { publicKey: file('right.pub', signer.publicKey) })).toBe(0);
  expect(await verify([], { publicKey: file('other.pub', freshSigner().publicKey) })).toBe(1);
  expect(said.out).toContain('NOT INTACT: see the problems above\n');
  await expect(verify([], { publicKey: file('no.pub', 'no key') })).rejects.toMatchObject({
    code: 'input.key',
    shortMessage: expect.stringMatching(/no\.pub holds no ed25519 public key in PEM$/u),
    exitCode: 2,
  });
});

test('the JSON has the verdict, what pins the log, and which leaves belong to a run', async () => {
  const { signer } = await stored(started, fact, closed);
  expect(await verify([RUN], {}, 'json')).toBe(0);
  expect(JSON.parse(said.out)).toEqual({
    schema: 'lifeboat.audit/1',
    verdict: 'intact',
    receipts: [],
    words: expect.stringMatching(/^intact, up to /u),
    entries: 4,
    streams: 3,
    anchor: expect.stringMatching(/^lifeboat:[0-9a-f]{16}:4:[0-9a-f]{20}:[0-9a-f]{4}$/u),
    pins: [{ place: join(home, 'checkpoints'), size: 4, at: expect.any(String) }],
    run: {
      stream: `run/${RUN}`,
      leaves: [
        [1, 1],
        [3, 3],
      ],
    },
    findings: [expect.objectContaining({ severity: 'note', code: 'home.only' })],
  });
  expect(await verify([RUN], { publicKey: file('right.pub', signer.publicKey) })).toBe(0);
  expect(said.out).toContain(`run/${RUN}: 2 entries, leaves 1, 3\n`);
});

test('a home whose journal was replaced by one with another key is not intact under the key of this machine', async () => {
  await stored(started, closed);
  const own = home;
  home = join(own, '..', 'other');
  await written(freshSigner(), started, closed);
  for (const name of ['lifeboat.db', 'checkpoints']) {
    rmSync(join(own, name), { recursive: true });
    cpSync(join(home, name), join(own, name), { recursive: true });
  }
  home = own;
  expect(await verify([])).toBe(1);
  expect(said.out).toMatch(
    /^problem: the key [0-9a-f]{16}, which is not trusted, has signed what is in the head of the log, /mu,
  );
});

test('the anchor of the store is printed, and reveals a home that was rolled back', async () => {
  const { signer } = await written(freshSigner(), started, fact);
  const publicKey = file('key.pub', signer.publicKey);
  cpSync(home, join(home, '..', 'earlier'), { recursive: true });
  await written(signer, fact);
  expect(await auditAnchorCommand(context() as never, [])).toBe(0);
  const anchor = said.out.trim();
  expect(await verify([RUN], { publicKey, anchor: [anchor] }), said.out).toBe(0);
  expect(said.out).toContain('note: the anchor matches: the first 4 entries are those that it covers\n');
  home = join(home, '..', 'earlier');
  expect(await verify([], { publicKey, anchor: [anchor] })).toBe(1);
  expect(said.out).toContain('the anchor covers 4 entries, and 3 are here: the log was cut or rolled back');
});

test('a home without a journal has nothing to verify, and one with a file in its place is not intact', async () => {
  expect(await verify([])).toBe(1);
  expect(said.out).toContain('0 entries in 0 streams: there is nothing to verify\n');
  writeFileSync(join(home, 'lifeboat.db'), 'a text of another program'.repeat(300));
  expect(await verify([])).toBe(1);
  expect(said.out).toContain('problem: ');
});

const noOpenSsh = spawnSync('ssh-keygen', ['-?']).error !== undefined && process.env['CI'] === undefined;

describe.skipIf(noOpenSsh)('the signatures of approvals', () => {
  let publicKey = '';
  const pinned = async (...entries: readonly NewEntry[]) => {
    const { signer } = await written(freshSigner(), ...entries);
    publicKey = file('key.pub', signer.publicKey);
  };
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
      url: 'https://x.example/service-instances/1',
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
  const documents = (
    done: Parameters<typeof somePeople>[0],
    textOf: string,
    { signature, line }: { readonly signature?: string; readonly line?: string } = {},
  ) => {
    const asked = askedIn(textOf);
    const person = somePeople(done).person('kim@example.com');
    const listed = execFileSync('ssh-keygen', ['-l', '-f', `${person.keyFile}.pub`], { encoding: 'utf8' });
    const challenge = challengeId(asked.text);
    const signers = { sha256: '', people: [], lines: [lineHash(line ?? person.line().trim())] };
    const begun = { ...started, body: { ...(started.body as object), approvals: { required: {}, signers } } };
    return [
      begun,
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
    await pinned(...documents(done, RUN));
    expect(await verify([], { publicKey }), said.out).toBe(0);
  });

  test('that are not signatures are found', async (done) => {
    await pinned(...documents(done, RUN, { signature: 'not a signature' }));
    expect(await verify([RUN], { publicKey })).toBe(1);
    expect(said.out).toMatch(/problem: run\/\S+ entry 3: \S+\.sig does not verify/u);
  });

  test('over the text of another run are found', async (done) => {
    await pinned(...documents(done, OTHER));
    expect(await verify([RUN], { publicKey })).toBe(1);
    expect(said.out).toContain('the approval was not given for what was asked: ');
  });

  test('of a person who was not in the file of allowed signers when the run began are found', async (done) => {
    await pinned(...documents(done, RUN, { line: 'another@example.com ssh-ed25519 AAAA' }));
    expect(await verify([], { publicKey })).toBe(1);
    expect(said.out).toContain(
      'the approval rests on a line that was not in the file of allowed signers when the run began',
    );
  });

  test('are reported as unchecked where the tool for it is missing, in the verdict and in JSON', async (done) => {
    await pinned(...documents(done, RUN));
    vi.stubEnv('PATH', home);
    expect(await verify([], { publicKey })).toBe(3);
    const words = '1 approval signature was not checked: ssh-keygen is not on this machine';
    expect(said.out).toContain(`consistent, but not all of it is pinned: ${words}\n`);
    expect(await verify([], { publicKey }, 'json')).toBe(3);
    expect(JSON.parse(said.out)).toMatchObject({
      verdict: 'consistent',
      findings: [{ severity: 'limit', code: 'approval.unchecked', shortMessage: words }, {}],
      words: expect.stringContaining(words),
    });
  });
});
