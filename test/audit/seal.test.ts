import { execFileSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { auditVerify } from '../../src/audit/audit.ts';
import { watchJournal } from '../../src/audit/seal.ts';
import { refuseCutTail } from '../../src/audit/tail.ts';
import { readCheckpoint } from '../../src/store/log/checkpoint.ts';
import { openSqliteJournal } from '../../src/store/sqlite-journal.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { openSealed, type SealedJournal } from './sealed-journal.ts';
import { freshSigner } from './signing.ts';

const note = { stream: 'run/a', type: 'note', body: null } as const;

const latest = (sealed: SealedJournal) => {
  const text = readFileSync(join(sealed.home, 'checkpoints/run/a/latest.note'), 'utf8');
  const read = readCheckpoint(text, [createPublicKey(sealed.signer.publicKey)]);
  return read.result === 'signed' ? read.checkpoint.seq : read.result;
};

const opened = async (options: Parameters<typeof openSealed>[0] = {}) => {
  const sealed = await openSealed(options);
  onTestFinished(() => sealed.close());
  return sealed;
};

test('every append leaves the newest signed head outside the database, a turn of the event loop later', async () => {
  const sealed = await opened();
  await sealed.journal.append([note]);
  await setImmediate();
  expect(latest(sealed)).toBe(1);
  await sealed.journal.append([note, note]);
  await sealed.journal.append([note]);
  await setImmediate();
  expect(latest(sealed)).toBe(4);
  expect(readdirSync(join(sealed.home, 'checkpoints/run/a'))).toEqual(['latest.note']);
  expect(readFileSync(join(sealed.home, 'checkpoints/lifeboat.pub'), 'utf8')).toBe(sealed.signer.publicKey);
});

test('a process that ends without a word still writes the checkpoint', () => {
  const home = temporaryHome();
  const script = join(import.meta.dirname, 'append-and-exit.ts');
  execFileSync(process.execPath, [script, home]);
  expect(statSync(join(home, 'checkpoints/run/a/latest.note')).mode & 0o777).toBe(0o600);
});

test('a named moment is kept for good, here and in the extra folders', async () => {
  const folder = temporaryHome();
  const sealed = await opened({ folders: [folder] });
  await sealed.journal.append([note, note]);
  const signed = await sealed.sealer.sealNow('run/a', 'armed');
  await sealed.journal.append([note]);
  await sealed.sealer.sealNow('run/a', 'closed');
  const names = ['00000002-armed.note', '00000003-closed.note'];
  expect(readdirSync(join(sealed.home, 'checkpoints/run/a'))).toEqual([...names, 'latest.note']);
  const shared = join(folder, `lifeboat-${sealed.signer.installation}`);
  expect(readdirSync(join(shared, 'run/a'))).toEqual(names);
  expect(readFileSync(join(shared, 'run/a', names[0] ?? ''), 'utf8')).toBe(signed);
  expect(readFileSync(join(shared, 'lifeboat.pub'), 'utf8')).toBe(sealed.signer.publicKey);
});

test('an extra folder that cannot be written is reported and stops nothing', async () => {
  const home = temporaryHome();
  const journal = await openSqliteJournal({ home, by: 'tester' });
  onTestFinished(() => journal.close());
  writeFileSync(join(home, 'file'), '');
  const problems: string[] = [];
  const sealer = watchJournal(journal, freshSigner(), {
    home,
    folders: [join(home, 'file')],
    onProblem: ({ code, shortMessage }) => problems.push(`${code}: ${shortMessage}`),
  });
  onTestFinished(() => sealer.stop());
  await journal.append([note]);
  await sealer.sealNow('run/a', 'armed');
  expect(problems).toEqual([
    `evidence.not-sealed: the checkpoint of run/a cannot be written to ${join(home, 'file')}`,
  ]);
});

test('a named moment that cannot be kept at home is an error', async () => {
  const sealed = await opened();
  await sealed.journal.append([note]);
  mkdirSync(join(sealed.home, 'checkpoints/run'));
  writeFileSync(join(sealed.home, 'checkpoints/run/a'), '');
  await expect(sealed.sealer.sealNow('run/a', 'armed')).rejects.toMatchObject({
    code: 'evidence.not-sealed',
  });
  rmSync(join(sealed.home, 'checkpoints/run/a'));
});

test('after a change of the signing key old checkpoints still verify', async () => {
  const old = await openSealed();
  await old.journal.append([note]);
  await old.sealer.sealNow('run/a', 'closed');
  await old.close();
  const now = await openSealed({ home: old.home });
  await now.journal.append([note]);
  await now.close();
  expect(await auditVerify({ home: old.home })).toMatchObject({ ok: true, findings: [] });
  expect(readdirSync(join(old.home, 'checkpoints')).filter((name) => name.endsWith('.pub'))).toEqual([
    `lifeboat-${old.signer.installation}.pub`,
    'lifeboat.pub',
  ]);
});

test('a run whose last steps are gone is not gone on with', async () => {
  const sealed = await openSealed();
  const [, second] = await sealed.journal.append([note, note]);
  await sealed.close();
  if (second === undefined) throw new Error('nothing was appended');
  const { stream, hash, prev } = second;
  expect(() => refuseCutTail(sealed.home, { stream, seq: 2, hash })).not.toThrow();
  expect(() => refuseCutTail(sealed.home, { stream, seq: 3, hash: prev })).not.toThrow();
  expect(() => refuseCutTail(sealed.home, { stream, seq: 2, hash: prev })).toThrow(
    'signed and is gone or changed',
  );
  expect(() => refuseCutTail(sealed.home, { stream, seq: 1, hash: prev })).toThrow(
    'run/a ends at entry 1, but entry 2 was signed and is gone or changed',
  );
  writeFileSync(join(sealed.home, 'checkpoints/run/a/latest.note'), 'a damaged note stops nobody');
  expect(() => refuseCutTail(sealed.home, { stream, seq: 1, hash: prev })).not.toThrow();
});
