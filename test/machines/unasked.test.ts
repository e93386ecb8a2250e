import { expect, test } from 'vitest';
import type { RunContext } from '../../machines/context.ts';
import { withBound } from '../../machines/phases/open-follow-ups.ts';
import { startingContext } from './starting-context.ts';

type FollowUps = RunContext['followUps']['list'];

const HAND = { way: 'hand', notes: [], apps: [], keys: [], unseen: [], order: 'replace', foundAt: '' };

function followUpsWith(bound: object, list: FollowUps = []) {
  const context = startingContext({ instance: 'orders' });
  return withBound({ ...context, followUps: { ...context.followUps, bound, list } as never });
}

const idsOf = (list: FollowUps) => list.map(({ id }) => id);

test('a platform that could not be asked leaves a follow-up to find out what is bound, until it can be asked', () => {
  const unasked = followUpsWith({ ...HAND, unasked: true });
  expect(idsOf(unasked)).toContain('rebind-unknown');
  expect(idsOf(followUpsWith({ ...HAND, unasked: true }, unasked))).toContain('rebind-unknown');
  expect(idsOf(followUpsWith(HAND, unasked))).not.toContain('rebind-unknown');
  expect(idsOf(followUpsWith(HAND))).not.toContain('rebind-unknown');
});
