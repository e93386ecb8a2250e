import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { CommandContext } from '../../src/cli/context.ts';
import { keptLists } from '../../src/commands/doctor/kept-lists.ts';
import { memoryStore } from '../../src/keys/key-store.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { appendHolding } from '../../src/runner/holds.ts';
import { createSigner } from '../../src/store/log/signer.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';

/** A home with an open run, a follow-up and a key, and a hand that changes its rows with a database tool. */
async function homeWithRows() {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-lists-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const keyring = openKeyring(memoryStore());
  const signer = createSigner(await keyring.signingKey());
  const journal = await openSqliteStore({ home, by: 'tester', signer, projections: PROJECTIONS });
  const started = { runbook: 'rotate-key', version: '1', instance: 'orders', mode: 'LIVE' };
  const followUp = { id: 'rebind-shop', kind: 'rebind', subject: 'shop', what: 'bind shop', commands: [] };
  await appendHolding(journal, [
    { stream: 'run/R1', type: 'run.started', body: started },
    { stream: 'instance/orders', type: 'follow-up.opened', body: { followUp } },
    { stream: 'instance/orders', type: 'key.added', body: { fingerprint: 'aaaaaaaaaaaa' } },
  ]);
  await journal.close();
  const context = { env: { LIFEBOAT_HOME: home } } as unknown as CommandContext;
  const change = (sql: string) => {
    const db = new DatabaseSync(join(home, 'lifeboat.db'));
    db.exec(sql);
    db.close();
  };
  return { change, look: (rebuild = false) => keptLists(context, keyring, rebuild) };
}

test('unchanged lists match the entries', async () => {
  const { look } = await homeWithRows();
  expect(await look()).toMatchObject([{ what: 'lists', state: 'ok' }]);
});

test('a row that was removed, changed or inserted is named with its list, and a rebuild repairs it', async () => {
  const { change, look } = await homeWithRows();
  change("DELETE FROM rows WHERE projection = 'pending-calls'");
  change("UPDATE rows SET grp = 'closed' WHERE projection = 'runs'");
  change("INSERT INTO rows VALUES ('follow-ups', 'orders/x', 'open', '1', '{}')");
  const bad = [
    { what: 'list runs', state: 'bad', found: '1 row does not match the entries: R1 (different)' },
    { what: 'list follow-ups', found: '1 row does not match the entries: orders/x (in no entry)' },
    { what: 'list pending-calls', found: '1 row does not match the entries: run/R1 (missing)' },
  ];
  const found = await look();
  expect(found).toMatchObject(bad);
  expect(found[0]?.hints.at(-1)).toContain('lifeboat doctor --rebuild');
  expect((await look(true)).map(({ state }) => state)).toEqual(['warn', 'warn', 'warn']);
  expect(await look()).toMatchObject([{ what: 'lists', state: 'ok' }]);
});

test('a home without a journal has no lists to check', async () => {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-lists-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  expect(await keptLists({ env: { LIFEBOAT_HOME: home } } as never, undefined, true)).toEqual([]);
});
