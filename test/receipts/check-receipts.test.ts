import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFindings } from '../../src/audit/verdict.ts';
import { receiptFolders } from '../../src/commands/audit/receipt-folders.ts';
import { generateReceiptKey } from '../../src/keys/keyring.ts';
import { checkReceipts } from '../../src/receipts/check-receipts.ts';
import { keyEntry, keyHash, receiptEntry } from '../../src/receipts/log-entries.ts';
import { receiptPublicKey, signStatement } from '../../src/receipts/sigstore-bundle.ts';
import type { Statement } from '../../src/receipts/statement.ts';
import type { NewEntry } from '../../src/store/journal.ts';
import type { Signer } from '../../src/store/log/signer.ts';
import { auditHome, openSealed } from '../audit/sealed-journal.ts';
import { freshSigner } from '../store/fresh-signer.ts';
import { temporaryHome } from '../store/temporary-home.ts';

const REPORT = '{"schema":"lifeboat.report/1"}\n';
const statement = (report = REPORT, backups: readonly string[] = []): Statement => ({
  _type: 'https://in-toto.io/Statement/v1',
  subject: [
    { name: 'report.json', digest: { sha256: hash('sha256', report) } },
    ...backups.map((text) => ({ name: 'backup', digest: { sha256: hash('sha256', text) } })),
  ],
  predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
  predicate: {
    result: 'PASSED',
    configuration: [],
    passedTests: ['run/proven'],
    warnedTests: [],
    failedTests: [],
  },
});

/** A folder as `lifeboat receipt` writes it. */
function receiptIn(folder: string, key = generateReceiptKey(), stated = statement()) {
  mkdirSync(folder);
  const signed = signStatement(stated, key);
  const publicKey = receiptPublicKey(key);
  const files = {
    'report.json': REPORT,
    'receipt.sigstore.json': signed.bundle,
    'receipt.pae': signed.pae,
    'receipt.sig': signed.signature,
    'lifeboat-receipts.pub': publicKey,
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const made = {
    run: '01A',
    result: 'PASSED',
    sha256: hash('sha256', signed.bundle),
    key: keyHash(publicKey),
  } as const;
  return { folder, publicKey, key, made: receiptEntry(made) };
}

interface World {
  readonly home: string;
  readonly signer: Signer;
  readonly folder: string;
  readonly publicKey: string;
}

/** A home whose log has a receipt, and its folder. `vouch` makes the entry that vouches for its key. */
async function world(
  vouch: (publicKey: string, origin: string, signer: Signer) => readonly NewEntry[] = (...of) => [
    keyEntry(...of),
  ],
): Promise<World> {
  const { home, signer, append, journal, sealer, close } = await openSealed();
  const { folder, publicKey, made } = receiptIn(join(temporaryHome(), 'receipt'));
  await append(made);
  const origin = (await journal.log.origin()) ?? '';
  const entries = vouch(publicKey, origin, signer);
  if (entries.length > 0) await append(...entries);
  await sealer.sealNow();
  await close();
  return { home, signer, folder, publicKey };
}

async function checked({ home, signer }: World, ...folders: readonly string[]) {
  const { log } = await auditHome({ home }, { publicKey: signer.publicKey });
  const findings = createFindings();
  const receipts = checkReceipts(log, folders.flatMap(receiptFolders), findings);
  return {
    found: findings.list().map(({ severity, code }) => `${severity} ${code}`),
    states: receipts.map(({ state }) => state),
    receipts,
    messages: findings.list().map(({ shortMessage }) => shortMessage),
  };
}

const change = ({ folder }: World, name: string, by: (text: string) => string) => {
  const path = join(folder, name);
  const text = readFileSync(path, 'latin1');
  expect(by(text)).not.toBe(text);
  writeFileSync(path, by(text), 'latin1');
};

test('a receipt is verified: its hash is on record, its key is vouched for, and its report is the right one', async () => {
  const it = await world();
  const { found, receipts } = await checked(it, it.folder);
  expect(found).toEqual([]);
  expect(receipts).toMatchObject([{ about: 'run/01A', state: 'verified', path: it.folder }]);
});

test('all folders in a folder are checked, and a folder without receipts is an error', async () => {
  const it = await world();
  expect((await checked(it, join(it.folder, '..'))).states).toEqual(['verified']);
  await expect(checked(it, it.home)).rejects.toMatchObject({ code: 'input.receipts', exitCode: 2 });
});

test('a receipt on record whose files are missing is named, and does not change the verdict', async () => {
  const { found, states } = await checked(await world());
  expect(found).toEqual(['note receipt.not-given']);
  expect(states).toEqual(['not-given']);
});

const CHANGES: readonly (readonly [string, (it: World) => void, string, string])[] = [
  [
    'a changed report',
    (it) => change(it, 'report.json', (text) => `${text} `),
    'wrong',
    'problem receipt.other-file',
  ],
  [
    'a report that is gone',
    (it) => rmSync(join(it.folder, 'report.json')),
    'limited',
    'limit receipt.missing-file',
  ],
  [
    'a receipt with another payload',
    (it) =>
      change(it, 'receipt.sigstore.json', (text) => text.replace(/"payload":"...../u, '"payload":"AAAAA')),
    'wrong',
    'problem receipt.changed',
  ],
  [
    'a receipt that is none',
    (it) => change(it, 'receipt.sigstore.json', () => '{}'),
    'wrong',
    'problem receipt.unreadable',
  ],
  [
    'a receipt that is gone',
    (it) => rmSync(join(it.folder, 'receipt.sigstore.json')),
    'limited',
    'limit receipt.missing-file',
  ],
  [
    'another text for openssl',
    (it) => change(it, 'receipt.pae', (text) => `${text} `),
    'wrong',
    'problem receipt.changed',
  ],
  [
    'another signature for openssl',
    (it) => change(it, 'receipt.sig', (text) => `${text} `),
    'wrong',
    'problem receipt.changed',
  ],
  [
    'the public key of somebody else beside it',
    (it) => change(it, 'lifeboat-receipts.pub', () => receiptPublicKey(generateReceiptKey())),
    'wrong',
    'problem receipt.other-key',
  ],
  [
    'a receipt by another key, with that key beside it',
    (it) => {
      rmSync(it.folder, { recursive: true });
      receiptIn(it.folder);
    },
    'wrong',
    'problem receipt.other-key',
  ],
];

test.each(CHANGES)('%s is detected', async (_, by, state, finding) => {
  const it = await world();
  by(it);
  const { found, states } = await checked(it, it.folder);
  expect(found.filter((one) => one !== 'note receipt.not-given')).toEqual([finding]);
  expect(states[0]).toBe(state);
});

test('files for openssl and the public key may be missing, since the receipt alone is verified', async () => {
  const it = await world();
  for (const name of ['receipt.pae', 'receipt.sig', 'lifeboat-receipts.pub']) rmSync(join(it.folder, name));
  expect((await checked(it, it.folder)).states).toEqual(['verified']);
});

test('a key for which nothing in the log vouches proves nothing, although its signature is right', async () => {
  const it = await world(() => []);
  const { found, states } = await checked(it, it.folder);
  expect(found).toEqual(['limit receipt.unvouched']);
  expect(states).toEqual(['limited']);
  expect((await checked(it)).found).toContain('limit receipt.unvouched');
  rmSync(join(it.folder, 'lifeboat-receipts.pub'));
  expect((await checked(it, it.folder)).found).toContain('limit receipt.missing-file');
});

test('a key for which only a stranger vouches is not vouched for', async () => {
  const it = await world((publicKey, origin) => [keyEntry(publicKey, origin, freshSigner())]);
  expect(await checked(it, it.folder)).toMatchObject({
    found: ['limit receipt.unvouched'],
    states: ['limited'],
  });
});

test('a vouching entry for a key in another log, or under a changed signature, does not count', async () => {
  const other = await world((publicKey, _, signer) => [
    keyEntry(publicKey, 'lifeboat/0123456789abcdef', signer),
  ]);
  expect((await checked(other, other.folder)).found).toEqual(['limit receipt.unvouched']);
  const forged = await world((publicKey, origin, signer) => {
    const mine = keyEntry(receiptPublicKey(generateReceiptKey()), origin, signer).body as { note: string };
    const theirs = keyEntry(publicKey, origin, signer).body as { note: string };
    const [, signature] = mine.note.split('\n\n');
    return [
      {
        stream: 'store/log',
        type: 'receipt-key.endorsed',
        body: { note: `${theirs.note.split('\n\n')[0]}\n\n${signature}` },
      },
    ];
  });
  expect(await checked(forged, forged.folder)).toMatchObject({
    found: ['problem receipt.endorsement'],
    states: ['limited'],
  });
});

test('a receipt that the key signed and the log does not have is no proof', async () => {
  const it = await world();
  const key = generateReceiptKey();
  const sealed = await openSealed({ home: it.home, signer: it.signer });
  await sealed.append(keyEntry(receiptPublicKey(key), (await sealed.journal.log.origin()) ?? '', it.signer));
  await sealed.sealer.sealNow();
  await sealed.close();
  const { folder } = receiptIn(join(temporaryHome(), 'other'), key);
  expect(await checked(it, it.folder, folder)).toMatchObject({
    found: ['limit receipt.not-on-record'],
    states: ['verified', 'limited'],
  });
});

test('a backup beside a receipt is compared with every backup that the receipt names', async () => {
  const { home, signer, append, journal, sealer, close } = await openSealed();
  const key = generateReceiptKey();
  const { folder, publicKey, made } = receiptIn(
    join(temporaryHome(), 'r'),
    key,
    statement(REPORT, ['one', 'two']),
  );
  await append(made);
  await append(keyEntry(publicKey, (await journal.log.origin()) ?? '', signer));
  await sealer.sealNow();
  await close();
  const it = { home, signer, folder, publicKey };
  expect(await checked(it, folder)).toMatchObject({
    found: ['note receipt.not-beside'],
    states: ['verified'],
  });
  writeFileSync(join(folder, 'backup'), 'two');
  expect((await checked(it, folder)).found).toEqual([]);
  writeFileSync(join(folder, 'backup'), 'three');
  expect((await checked(it, folder)).found).toEqual(['problem receipt.other-file']);
});

test('no name in a statement reads a file outside its folder', async () => {
  const { home, signer, append, journal, sealer, close } = await openSealed();
  const key = generateReceiptKey();
  const name = '../../secret\u001b]0;x\u0007';
  const stated = { ...statement(), subject: [{ name, digest: { sha256: hash('sha256', 'x') } }] };
  const { folder, publicKey, made } = receiptIn(join(temporaryHome(), 'r'), key, stated);
  await append(made);
  await append(keyEntry(publicKey, (await journal.log.origin()) ?? '', signer));
  await sealer.sealNow();
  await close();
  const asked: string[] = [];
  const spied = receiptFolders(folder).map((one) => ({
    ...one,
    digest(file: string) {
      asked.push(file);
      return undefined;
    },
  }));
  const { log } = await auditHome({ home }, { publicKey: signer.publicKey });
  const findings = createFindings();
  checkReceipts(log, spied, findings);
  expect(asked).toEqual([]);
  expect(JSON.stringify(findings.list())).not.toMatch(/\p{Cc}/u);
});
