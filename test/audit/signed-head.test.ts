import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { signedHeadOf } from '../../src/audit/signed-head.ts';
import { evidenceOf } from '../../src/evidence/report/chain.ts';
import { openForReading } from '../../src/store/open-for-reading.ts';
import { openSqliteJournal } from '../../src/store/sqlite-journal.ts';
import { sealedHome } from './sealed-journal.ts';

async function entriesOf(home: string) {
  const journal = await openForReading({ home });
  try {
    return await journal.read('run/a');
  } finally {
    await journal.close();
  }
}

test('a report shows the signed head that verifies, with the entry that it reaches', async () => {
  const { home } = await sealedHome(4);
  const forger = await openSqliteJournal({ home, by: 'tester' });
  await forger.append([{ stream: 'run/a', type: 'note', body: null }]);
  await forger.close();
  const entries = await entriesOf(home);
  const note = signedHeadOf(home, entries) ?? '';
  expect(note).toBe(readFileSync(join(home, 'checkpoints/run/a/latest.note'), 'utf8'));
  expect(evidenceOf(entries, { generatedAt: new Date(0), note })).toMatchObject({ signedTo: 4 });
});

test('a report shows no text as a signed head that no known key has signed for this run', async () => {
  const { home } = await sealedHome(4);
  const folder = join(home, 'checkpoints/run/a');
  const other = readFileSync(join(home, 'checkpoints/instance/orders/latest.note'), 'utf8');
  rmSync(join(folder, '00000004-closed.note'));
  for (const text of ['signed and sealed\n', other]) {
    writeFileSync(join(folder, 'latest.note'), text);
    expect(signedHeadOf(home, await entriesOf(home))).toBeUndefined();
  }
});

test('nor one that saw another entry than the one that stands there', async () => {
  const { home } = await sealedHome(4);
  const [first, ...rest] = await entriesOf(home);
  if (first === undefined) throw new Error('nothing was written');
  expect(signedHeadOf(home, [first, ...rest.toReversed()])).toBeUndefined();
});
