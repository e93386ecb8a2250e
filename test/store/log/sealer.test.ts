import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSealer } from '../../../src/store/log/sealer.ts';
import { temporaryHome } from '../temporary-home.ts';
import { openCheckedStore } from './checked-store.ts';

const OTHER = '00112233445566aa';

/** A team's store with one shared folder. */
async function shared() {
  const folder = temporaryHome();
  const store = await openCheckedStore({ folders: [folder] });
  await store.arm('restore-1');
  const { journal, signer, places } = store;
  return { folder, sealer: createSealer(journal, { signer, places, isShared: true }) };
}

test('a folder that a process left empty before its first checkpoint does not count as another log', async () => {
  const { folder, sealer } = await shared();
  mkdirSync(join(folder, OTHER));
  expect(await sealer.sealNow()).toContain('lifeboat/');
});

test('a checkpoint of another log in the folder of a team stops every change', async () => {
  const { folder, sealer } = await shared();
  const other = await openCheckedStore({ folders: [folder] });
  await other.arm('restore-2');
  await other.sealer.sealNow();
  await expect(sealer.sealNow()).rejects.toMatchObject({ code: 'journal.rolled-back', exitCode: 5 });
});
