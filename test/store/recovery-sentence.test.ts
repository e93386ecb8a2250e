import { expect, test } from 'vitest';
import { entrySentences } from '../../src/store/sentence.ts';

const followUp = {
  id: 'rebind-shop',
  kind: 'rebind',
  subject: 'shop',
  what: 'unbind, bind and restage shop',
};

test.for([
  {
    type: 'card.prepared',
    body: { card: { backupGuid: 'G-1', fingerprint: '0a1b2c3d4e5f' }, run: 'R' },
    text: 'recovery card for backups G-1, key 0a1b2c3d4e5f',
    tone: 'good',
  },
  {
    type: 'card.prepared',
    body: { card: { backupGuid: 'G-1' } },
    text: 'recovery card for backups G-1',
    tone: 'good',
  },
  {
    type: 'recovery.done',
    body: {
      runbook: 'disaster-recovery',
      restore: { id: 4, restoredFrom: '2026-03-01T02:00:00Z' },
      backup: { id: 2 },
      source: 'orders',
      freshBackup: 9,
    },
    text: 'disaster-recovery done, restore 4, of backup 2, from orders, data of 2026-03-01 02:00:00 UTC, fresh backup 9',
    tone: 'good',
  },
  {
    type: 'evaluation.made',
    body: {
      ...{ verdict: 'not-ready', reason: 'backup 9 is 2 h old, and the RPO is 1 h' },
      findings: [
        {
          ...{ check: 'newest-backup', state: 'red', reason: 'backup 9 is 2 h old, and the RPO is 1 h' },
          ...{ firstSeen: '2026-03-01T02:00:00Z', due: '2026-03-02T02:00:00Z' },
        },
      ],
    },
    text: 'evaluated: NOT READY: backup 9 is 2 h old, and the RPO is 1 h; findings: newest-backup',
    tone: 'warn',
  },
  { type: 'recovery.done', body: { runbook: 'change-instance' }, text: 'change-instance done', tone: 'good' },
  {
    type: 'follow-up.opened',
    body: { followUp },
    text: 'follow-up opened: unbind, bind and restage shop',
    tone: 'warn',
  },
  {
    type: 'follow-up.closed',
    body: { id: 'rebind-shop', closure: { how: 'hand', text: 'seen in the console' } },
    text: 'follow-up done: rebind-shop, by hand: seen in the console',
    tone: 'good',
  },
  {
    type: 'follow-up.closed',
    body: { id: 'rebind-shop', closure: { how: 'skipped', text: 'shop is gone' } },
    text: 'follow-up skipped: rebind-shop, because: shop is gone',
    tone: 'warn',
  },
])('a fact about a recovery becomes a sentence for people: $text', ({ type, body, text, tone }) => {
  expect(entrySentences()({ type, body })).toEqual({ text, tone });
});

test.for(['card.prepared', 'recovery.done', 'follow-up.opened', 'follow-up.closed'])(
  'an unreadable one is shown with its fields: %s',
  (type) => {
    expect(entrySentences()({ type, body: { n: 1 } }).text).toBe(`${type} n 1`);
    expect(entrySentences()({ type, body: [1] }).text).toBe(`${type} [1]`);
  },
);

test('no byte of it can act on a terminal', () => {
  const body = { followUp: { ...followUp, what: 'x\u001b[2J\u202e\n'.repeat(99) } };
  expect(entrySentences()({ type: 'follow-up.opened', body }).text).not.toMatch(/\p{Cc}|\p{Cf}/u);
});
