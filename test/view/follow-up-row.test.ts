import { expect, test } from 'vitest';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import { followUpLines, followUpRow } from '../../src/view/view-follow-ups.ts';
import { at, followUps } from '../report/recovery.ts';

const now = new Date(at(1125));
const run = { instance: 'orders', now, runId: '01R', runbook: 'restore-backup', operator: 'Ada' };

function openFollowUp(id: string, changes: Partial<FollowUp> = {}): FollowUp {
  const found = followUps.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no follow-up ${id}`);
  return { ...found, closed: undefined, ...changes };
}

test('a follow-up of a run is shown with id, run, age, limit, ways and commands that can be copied', () => {
  expect(followUpLines(followUpRow(openFollowUp('rebind-orders-api'), run))).toEqual([
    'rebind-orders-api: unbind, bind and restage orders-api',
    '  orders, run 01R (restore-backup), open for 16m, owner Ada, overdue by 1m',
    '  by the platform, by hand with a proof, or skipped with a reason: lifeboat followups run rebind-orders-api, or lifeboat followups done rebind-orders-api --proof TEXT',
    '    cf target -o acme -s prod',
    '    cf restage orders-api --strategy rolling',
  ]);
});

test('a follow-up that the open run does itself shows the command that lets the run do it', () => {
  const own = openFollowUp('rebind-billing', {
    id: 'fresh-backup',
    commands: ['lifeboat backups create --instance orders'],
    doable: 'run',
  });
  const row = followUpRow(own, run);
  expect(row.commands).toEqual(['lifeboat followups run fresh-backup']);
  expect(followUpLines(row).join('\n').split('followups run fresh-backup')).toHaveLength(2);
});

test('the commands that close it stay one command each, whatever a key or an application is called', () => {
  const lines = followUpLines(
    followUpRow(openFollowUp('rebind-orders-api', { id: "service-key-a'; rm -rf ~ #" }), run),
  ).join('\n');
  expect(lines).toContain(`lifeboat followups run 'service-key-a'\\''; rm -rf ~ #', or`);
  expect(lines).toContain(`lifeboat followups done 'service-key-a'\\''; rm -rf ~ #' --proof TEXT`);
});

test('a follow-up that outlives its run is shown from the ledger of its instance', () => {
  const retire = openFollowUp('rebind-billing', {
    id: 'retire-0a1b',
    kind: 'retire-key',
    what: 'retire key 0a1b',
    dueSeconds: 86_400,
  });
  const row = followUpRow(retire, { instance: 'orders', now });
  expect(row).toMatchObject({
    kind: 'retire-key',
    instance: 'orders',
    run: undefined,
    owner: '',
    age: 960,
    left: 85_440,
  });
  expect(followUpLines(row)).toEqual([
    'retire-0a1b: retire key 0a1b',
    '  orders, in its ledger, open for 16m, due in 23h 44m',
    '  by hand with a proof, or skipped with a reason: lifeboat followups done retire-0a1b --proof TEXT',
  ]);
});

test('a closed follow-up says how it was closed', () => {
  const closed = { how: 'skipped' as const, text: 'retired last week', evidence: {} };
  expect(followUpLines(followUpRow(openFollowUp('old-binding-legacy', { closed }), run))).toEqual([
    'old-binding-legacy: remove the binding of legacy',
    '  orders, run 01R (restore-backup)',
    '  closed (skipped: retired last week)',
  ]);
});

test('no text of it can act on a terminal', () => {
  const hostile = '\u001b]52;c;aGk=\u0007\u202e\n';
  const row = followUpRow(
    openFollowUp('rebind-billing', {
      id: hostile,
      what: hostile,
      subject: hostile,
      owner: hostile,
      commands: [hostile],
    }),
    { instance: hostile, now, runId: hostile, runbook: hostile },
  );
  expect(followUpLines(row).join('')).not.toMatch(/\p{Cc}|\p{Cf}/u);
});
