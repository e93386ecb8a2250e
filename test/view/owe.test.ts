import { expect, test } from 'vitest';
import type { Obligation } from '../../machines/parts/obligation.ts';
import { oweLines, oweRow } from '../../src/view/owe.ts';
import { at, obligations } from '../report/recovery.ts';

const now = new Date(at(1125));
const run = { instance: 'orders', now, runId: '01R', runbook: 'restore-backup', operator: 'Ada' };

function owed(id: string, changes: Partial<Obligation> = {}): Obligation {
  const found = obligations.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no obligation ${id}`);
  return { ...found, settled: undefined, ...changes };
}

test('what a run owes is told with id, run, age, limit, ways and commands that can be copied', () => {
  expect(oweLines(oweRow(owed('rebind-orders-api'), run))).toEqual([
    'rebind-orders-api: unbind, bind and restage orders-api',
    '  orders, run 01R (restore-backup), owed for 16m by Ada, overdue by 1m',
    '  by the platform, by hand with a proof, or skipped with a reason: lifeboat owe pay rebind-orders-api, or lifeboat owe settle rebind-orders-api --proof TEXT',
    '    cf target -o acme -s prod',
    '    cf restage orders-api --strategy rolling',
  ]);
});

test('the commands that settle it stay one command, whatever somebody has called a key or an application', () => {
  const lines = oweLines(oweRow(owed('rebind-orders-api', { id: "service-key-a'; rm -rf ~ #" }), run)).join(
    '\n',
  );
  expect(lines).toContain(`lifeboat owe pay 'service-key-a'\\''; rm -rf ~ #', or`);
  expect(lines).toContain(`lifeboat owe settle 'service-key-a'\\''; rm -rf ~ #' --proof TEXT`);
});

test('what outlives its run is told from the ledger of its instance', () => {
  const retire = owed('rebind-billing', {
    id: 'retire-0a1b',
    kind: 'retire-key',
    what: 'retire key 0a1b',
    dueSeconds: 86_400,
  });
  const row = oweRow(retire, { instance: 'orders', now });
  expect(row).toMatchObject({
    kind: 'retire-key',
    instance: 'orders',
    run: undefined,
    owner: '',
    age: 960,
    left: 85_440,
  });
  expect(oweLines(row)).toEqual([
    'retire-0a1b: retire key 0a1b',
    '  orders, in its ledger, owed for 16m, due in 23h 44m',
    '  by hand with a proof, or skipped with a reason: lifeboat owe settle retire-0a1b --proof TEXT',
  ]);
});

test('what is settled is told by how it was', () => {
  const settled = { how: 'skipped' as const, text: 'retired last week', evidence: {} };
  expect(oweLines(oweRow(owed('old-binding-legacy', { settled }), run))).toEqual([
    'old-binding-legacy: remove the binding of legacy',
    '  orders, run 01R (restore-backup)',
    '  settled skipped: retired last week',
  ]);
});

test('no text of it can act on a terminal', () => {
  const hostile = '\u001b]52;c;aGk=\u0007\u202e\n';
  const row = oweRow(
    owed('rebind-billing', {
      id: hostile,
      what: hostile,
      subject: hostile,
      owner: hostile,
      commands: [hostile],
    }),
    { instance: hostile, now, runId: hostile, runbook: hostile },
  );
  expect(oweLines(row).join('')).not.toMatch(/\p{Cc}|\p{Cf}/u);
});
