import { expect, test } from 'vitest';
import { missingFor, type OnRecord } from '../../src/plans/missing.ts';
import { readPlan } from '../../src/plans/plan-file.ts';
import { resolvePlan } from '../../src/plans/resolve.ts';
import { surroundingsWith } from './surroundings.ts';

const GROUP = (steps: string) => `plan: west
groups:
  - id: data
    for: { name: db-1, target: "{name}-dr" }
    steps: [${steps}]
`;
const RECOVER = '{ id: recover, runbook: disaster-recovery }';
const PREPARED: OnRecord = { card: { fingerprint: 'aaaaaaaaaaaa' }, isListed: false, hasKey: true };
const HELD = new Map([
  ['db-1', ['aaaaaaaaaaaa']],
  ['db-1-dr', ['bbbbbbbbbbbb']],
]);

/** What the recovery of db-1 in the last group lacks. */
async function lack(
  text: string,
  onRecord: OnRecord,
  held: ReadonlyMap<string, readonly string[]> = HELD,
  isHere = true,
) {
  const { groups } = resolvePlan(readPlan(text, 'p').plan, surroundingsWith(2));
  const group = groups.at(-1);
  const lane = group?.lanes[0];
  if (group === undefined || lane === undefined) throw new Error('the plan has no lane');
  return missingFor(groups, group, { lane, held, isHere, recordOf: async () => onRecord });
}

test('a recovery with a card, its key and a key of the target lacks nothing', async () => {
  expect(await lack(GROUP(RECOVER), PREPARED)).toBeUndefined();
});

test('without a card a recovery lacks it, unless a list of its backups is known', async () => {
  const none = { card: undefined, isListed: false, hasKey: false };
  expect(await lack(GROUP(RECOVER), none)).toBe(
    'no recovery card of db-1 is on record: lifeboat run disaster-recovery db-1 --prepare',
  );
  expect(await lack(GROUP(RECOVER), { ...none, isListed: true })).toBeUndefined();
});

test('what the plan itself makes before is not lacking', async () => {
  const none = { card: undefined, isListed: false, hasKey: false };
  const prepare = '{ id: prepare, runbook: disaster-recovery, with: { phase: prepare } }';
  expect(await lack(GROUP(`${prepare}, ${RECOVER}`), none)).toBeUndefined();
  const rotate = `  - { id: keys, for: { name: db-1-dr, role: target }, steps: [{ id: set, runbook: rotate-key }] }\n`;
  const after = GROUP(RECOVER).replace('groups:\n', `groups:\n${rotate}`);
  expect(await lack(after, PREPARED, new Map([['db-1', ['aaaaaaaaaaaa']]]))).toBeUndefined();
});

test('without the key of the card, or any key of the target, a recovery lacks it', async () => {
  const other = new Map([...HELD, ['db-1', ['cccccccccccc']]]) as typeof HELD;
  expect(await lack(GROUP(RECOVER), PREPARED, other)).toContain(
    'key aaaaaaaaaaaa of the recovery card of db-1',
  );
  const ofTarget = new Map([['db-1-dr', ['bbbbbbbbbbbb']]]);
  expect(await lack(GROUP(RECOVER), PREPARED, ofTarget)).toContain('no key of db-1 is held here');
  const ofSource = new Map([['db-1', ['aaaaaaaaaaaa']]]);
  expect(await lack(GROUP(RECOVER), PREPARED, ofSource)).toContain('no key of target db-1-dr is held here');
});

test('where other hosts take the steps, a key that is on record may be held by one of them', async () => {
  expect(await lack(GROUP(RECOVER), PREPARED, new Map(), false)).toBeUndefined();
});

test('where other hosts take the steps, a key that is neither on record nor held here is lacking', async () => {
  const unknown: OnRecord = { card: undefined, isListed: true, hasKey: false };
  expect(await lack(GROUP(RECOVER), unknown, new Map(), false)).toBe(
    'no key of db-1 is on record or held by this worker: lifeboat keys add db-1',
  );
  const ofSource = new Map([['db-1', ['aaaaaaaaaaaa']]]);
  expect(await lack(GROUP(RECOVER), { ...PREPARED, hasKey: false }, ofSource, false)).toContain(
    'no key of target db-1-dr is on record or held by this worker',
  );
  expect(await lack(GROUP(RECOVER), { ...PREPARED, hasKey: false }, HELD, false)).toBeUndefined();
});
