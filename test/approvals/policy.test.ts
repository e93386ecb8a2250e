import { expect, test } from 'vitest';
import { asksFor, weakenings } from '../../src/approvals/policy.ts';
import type { ApprovalPolicy } from '../../src/store/run-entries.ts';

const file = (...lines: string[]) => ({ sha256: lines.join(), lines });
const signers = (...lines: string[]) => ({ ...file(...lines), people: [] });

const BEGUN: ApprovalPolicy = {
  required: { orders: 'destructive', 'orders-dr': 'overwrites', lab: 'none' },
  expiresSeconds: 3600,
  signers: signers('ada', 'grace'),
  revoked: file('mallory', 'trudy'),
};
const { revoked: _, ...NO_LIST } = BEGUN;
const without = (change: Partial<ApprovalPolicy>): ApprovalPolicy => ({ ...BEGUN, ...change });

test.each<[string, ApprovalPolicy, ...string[]]>([
  [
    'the approvals are gone',
    { required: { orders: 'none', 'orders-dr': 'none' } },
    'the config has no `approvals` any more',
  ],
  [
    'the approvals are gone, though an instance still asks',
    { required: BEGUN.required },
    'the config has no `approvals` any more',
  ],
  [
    'one level is lower',
    without({ required: { ...BEGUN.required, orders: 'overwrites' } }),
    'fewer changes of orders need a second person',
  ],
  [
    'two instances need no approval',
    without({ required: { orders: 'none', 'orders-dr': 'none' } }),
    'fewer changes of orders need a second person',
    'fewer changes of orders-dr need a second person',
  ],
  [
    'an instance is not in the config any more',
    without({ required: { orders: 'destructive' } }),
    'fewer changes of orders-dr need a second person',
  ],
  ['a request lasts longer', without({ expiresSeconds: 3601 }), 'a request lasts longer'],
  ['the list of revoked keys is gone', NO_LIST, 'the list of revoked keys is gone'],
  [
    'a revoked key is taken off the list for another',
    without({ revoked: file('trudy', 'eve') }),
    '1 line of the list of revoked keys is gone',
  ],
  [
    'the list of revoked keys cannot be read',
    without({ revoked: { sha256: '', lines: [], problem: 'gone' } }),
    '2 lines of the list of revoked keys are gone',
  ],
])('a policy is weaker where %s', (_what, now, ...says) => {
  expect(weakenings(BEGUN, now).map(({ what }) => what)).toEqual(says);
});

test.each<[string, ApprovalPolicy, ApprovalPolicy]>([
  ['nothing has changed', BEGUN, BEGUN],
  ['more changes need an approval', BEGUN, without({ required: { ...BEGUN.required, lab: 'destructive' } })],
  ['a level is higher', BEGUN, without({ required: { ...BEGUN.required, 'orders-dr': 'destructive' } })],
  ['a request expires earlier', BEGUN, without({ expiresSeconds: 60 })],
  ['a key is revoked', BEGUN, without({ revoked: file('ada', 'mallory', 'trudy') })],
  ['a list of revoked keys was added', NO_LIST, BEGUN],
  // They cannot approve, so nothing is weaker.
  ['other people are allowed', BEGUN, without({ signers: signers('eve') })],
  ['approvals were added', { required: { orders: 'none' } }, BEGUN],
  ['nothing was required', without({ required: { orders: 'none' } }), { required: { orders: 'none' } }],
])('a policy is not weaker where %s', (_what, begun, now) => {
  expect(weakenings(begun, now)).toEqual([]);
});

test('a level asks for a second person according to the risk of a change', () => {
  const asks = (['none', 'overwrites', 'destructive', undefined] as const).map((level) => [
    asksFor(level, 'overwrites'),
    asksFor(level, 'destructive'),
  ]);
  expect(asks).toEqual([
    [false, false],
    [true, false],
    [true, true],
    [false, false],
  ]);
});
