import { expect, test } from 'vitest';
import { readRunEntry, runEntry } from '../../src/store/run-entries.ts';

test('an entry of a run is validated when created, and is read back typed', () => {
  const entry = runEntry('01J', 'answer', { event: 'SKIP', reason: undefined });
  expect(entry).toEqual({ stream: 'run/01J', type: 'answer', body: { event: 'SKIP' } });
  expect(readRunEntry(entry)).toEqual({ type: 'answer', body: { event: 'SKIP' } });
  expect(() => runEntry('01J', 'run.resumed', { pid: 1.5 })).toThrow();
});

test('the machine event keeps all its fields', () => {
  const event = { type: 'BACKUP.DONE', output: { id: 7, at: null } };
  expect(runEntry('01J', 'event', { event, to: 'verify' }).body).toEqual({ event, to: 'verify' });
});

test.each([
  ['future.type', { a: 1 }],
  ['answer', 'not an object'],
  ['toString', {}],
  ['run.closed', { outcome: 7 }],
])('an unknown type or body is skipped, not an error: %s', (type, body) => {
  expect(readRunEntry({ type, body })).toBeUndefined();
});

test('fields of a newer version do not make an entry unknown', () => {
  expect(readRunEntry({ type: 'run.detached', body: { why: 'closed the lid', more: 1 } })).toEqual({
    type: 'run.detached',
    body: { why: 'closed the lid' },
  });
});
