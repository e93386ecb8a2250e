import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PlatformRight } from '../../machines/parts/recovery-data.ts';
import { CHECK_IDS, type CheckId } from '../../src/base/check-id.ts';
import { evaluate } from '../../src/plans/evaluate.ts';
import type { InstanceVerdict } from '../../src/plans/evaluation-schema.ts';
import { PERIODS } from '../../src/plans/periods.ts';
import type { InstanceFacts, Part } from '../../src/view/fleet/fleet-facts.ts';
import {
  ago,
  DAY,
  emptyTarget,
  failed,
  HOUR,
  instance,
  KEY,
  known,
  NOW,
  OTHER,
  record,
  recovered,
} from './instance.ts';

const of = (given: Partial<InstanceFacts>, now = NOW) => evaluate(instance(given), now);
const later = (ms: number) => new Date(NOW.getTime() + ms);
const check = (id: CheckId, given: Partial<InstanceFacts>, now = NOW) =>
  of(given, now).checks.find((one) => one.id === id);

/** From best to worst. */
const RANK: readonly InstanceVerdict[] = ['empty', 'proven', 'ready', 'unknown', 'not-ready'];

describe('an instance is', () => {
  test('READY where every check is green and it was never restored', () => {
    expect(of({})).toMatchObject({ verdict: 'ready', reason: 'it was never restored or rehearsed' });
  });

  test('PROVEN where a proven run restored it and nothing changed since', () => {
    const given = { record: known(record({ recovered: recovered(20 * 24) })) };
    expect(of(given)).toMatchObject({ verdict: 'proven' });
    expect(of(given).reason).toMatch(/^restored on 2026-02-18 12:00:00 UTC by run /u);
  });

  test('READY at most on a service that reports itself as simulated, whatever was restored', () => {
    const backups = {
      done: [{ id: 9, backupId: 'guid-9', triggeredAt: ago(2), downloadable: true }],
      skewMs: 0,
    };
    const given = {
      record: known(record({ recovered: recovered(20 * 24) })),
      backups: known({ ...backups, isSimulated: true as const }),
    };
    expect(of(given)).toMatchObject({ verdict: 'ready', reason: expect.stringContaining('simulated') });
    expect(check('restored', given)).toMatchObject({ state: 'red', code: 'service.simulated' });
  });

  test('READY again where the restore is longer ago than drills.every', () => {
    const given = { record: known(record({ recovered: recovered(20 * 24) })) };
    const often = { ...given, policy: { drillEvery: 10 * DAY } };
    expect(of(often).verdict).toBe('ready');
    expect(check('restored', often)).toMatchObject({ state: 'red', periodSeconds: 864_000 });
    expect(check('restored', { ...given, policy: { drillEvery: 18 * DAY } })?.state).toBe('unknown');
  });

  test.for<[what: string, record: ReturnType<typeof record>]>([
    [
      'a key was set',
      record({ recovered: recovered(60) }, [
        { type: 'key.set', at: ago(50), body: { fingerprint: OTHER, run: 'S', answer: 'accepted' } },
      ]),
    ],
    [
      'a backup under an unknown key was found',
      record({ recovered: recovered(60) }, [
        { type: 'custody.unknown', at: ago(1), body: { backup: { id: 3 }, tried: [KEY] } },
      ]),
    ],
    [
      'its plan changed',
      record({
        recovered: recovered(60),
        evaluated: {
          ...{ verdict: 'ready', reason: '', findings: [], closed: [], at: ago(1), since: ago(1) },
          changedAt: ago(1),
        },
      }),
    ],
  ])('no longer PROVEN once %s after its restore', ([, changed]) => {
    expect(of({ record: known(changed) }).verdict).not.toBe('proven');
    expect(check('restored', { record: known(changed) })).toMatchObject({
      state: 'red',
      code: 'restore.changed',
    });
  });

  test('NOT READY by its first check that is red, before any that is unknown', () => {
    const given = { objectives: { rpo: HOUR }, held: failed };
    expect(of(given)).toMatchObject({
      verdict: 'not-ready',
      reason: 'backup 9 is 2 h old, and the RPO is 1 h',
    });
  });

  test('UNKNOWN where a part could not be asked', () => {
    expect(of({ held: failed })).toMatchObject({
      verdict: 'unknown',
      reason: 'the key store could not be read: no answer',
    });
  });

  test('NOT READY at once where the token is refused, and after 90 minutes without an answer', () => {
    const refused: Part<never> = { ...failed, code: 'credentials.refused', why: 'refused' };
    expect(of({ backups: refused }).verdict).toBe('not-ready');
    const silent = { overview: failed, backups: failed, window: failed };
    const seen = (hours: number) => ({ at: ago(hours), backups: [{ id: 9, status: 'done' }] });
    expect(of({ ...silent, seen: seen(1) }).verdict).toBe('unknown');
    expect(of({ ...silent, seen: seen(1) }).reason).toContain('it answered last 1 h ago');
    expect(of({ ...silent, seen: seen(1.5) }).verdict).toBe('not-ready');
  });

  test('empty where it is a target that answers and holds nothing, and UNKNOWN once that is old', () => {
    const spare = { role: 'target', record: known(record({}, [], [])), held: { state: 'unasked' } } as const;
    expect(of(spare)).toMatchObject({ verdict: 'empty' });
    expect(of(spare, later(31 * 60_000)).verdict).toBe('unknown');
    expect(of({ ...spare, backups: failed }).verdict).toBe('unknown');
    // A failed restore leaves no proven run, and may have left data.
    expect(of({ ...spare, restores: known(1) }).verdict).toBe('not-ready');
  });
});

describe('a check', () => {
  test('is no longer green after its period, and says how old the answer is', () => {
    expect(check('reachable', {}, later(30 * 60_000))?.state).toBe('green');
    expect(check('reachable', {}, later(31 * 60_000))).toMatchObject({
      state: 'unknown',
      reason: 'it answers; the last answer is 31 min old',
      ageSeconds: 1860,
      periodSeconds: 1800,
    });
  });

  test.for<[hours: number, rto: number | undefined, state: string, code: string, reason: RegExp]>([
    [2, HOUR, 'green', 'ok', /^the token is valid until 2026-03-10 14:00:00 UTC$/u],
    [1, HOUR, 'green', 'ok', /^the token is valid until/u],
    [0.5, HOUR, 'red', 'token.too-short', /^the token is valid for 30 min more, and the RTO is 1 h$/u],
    [0, HOUR, 'red', 'token.expired', /^the token expired on 2026-03-10 12:00:00 UTC$/u],
    [-1, undefined, 'red', 'token.expired', /expired/u],
    [1, undefined, 'not-applicable', 'objective.no-rto', /names no RTO/u],
  ])('of a token that is valid for %s h with an RTO of %s ms is %s', ([hours, rto, state, code, reason]) => {
    const token = known({ kind: 'until' as const, until: ago(-hours) });
    const given = { token, objectives: { rto } };
    expect(check('token', given)).toMatchObject({ state, code, reason: expect.stringMatching(reason) });
  });

  test('of a token is never green by guess: not where nothing states its end, nor where it was not read', () => {
    const objectives = { rto: HOUR };
    const unsaid = { objectives, token: known({ kind: 'unsaid' as const }) };
    expect(check('token', unsaid)).toMatchObject({ state: 'not-applicable', code: 'token.unsaid' });
    expect(check('token', { objectives })).toMatchObject({
      state: 'not-applicable',
      code: 'token.renewed',
    });
    expect(of({ token: failed }).verdict).toBe('unknown');
    expect(of({ token: { state: 'unasked' } }).verdict).toBe('unknown');
    const long = { objectives, token: known({ kind: 'until' as const, until: ago(-900) }) };
    expect(check('token', long, later(31 * 60_000))?.state).toBe('unknown');
  });

  test('of a token with an end uses the clock of the service', () => {
    const token = known({ kind: 'until' as const, until: ago(-2) });
    const backups = known({ done: [], skewMs: 90 * 60_000 });
    expect(check('token', { token, backups, objectives: { rto: HOUR } })?.code).toBe('token.too-short');
  });

  test('of the target is red where its token ends before the RTO of its source', () => {
    const token = known({ kind: 'until' as const, until: ago(-0.5) });
    const target = emptyTarget('orders-dr', { token });
    expect(check('target', { target, objectives: { rto: HOUR } })).toMatchObject({
      code: 'token.too-short',
      reason: 'target orders-dr: the token is valid for 30 min more, and the RTO is 1 h',
    });
  });

  test.for<[right: PlatformRight, state: string, code: string]>([
    ['manage', 'green', 'ok'],
    ['read', 'red', 'platform.read-only'],
    ['unseen', 'not-applicable', 'platform.unseen'],
    ['unsaid', 'not-applicable', 'platform.unsaid'],
  ])('of a right that is %s is %s', ([right, state, code]) => {
    expect(check('manage', { right: known(right) })).toMatchObject({ state, code });
  });

  test('of a right is UNKNOWN where the platform did not answer, and counts for nothing where there is none', () => {
    expect(of({ right: failed })).toMatchObject({ verdict: 'unknown' });
    expect(check('manage', { right: known('manage' as const) }, later(31 * 60_000))?.state).toBe('unknown');
    expect(check('manage', { right: { state: 'missing' } })).toMatchObject({
      state: 'not-applicable',
      code: 'platform.none',
    });
  });

  test('of a proven backup is red 14 days after the proof', () => {
    expect(check('proven-backup', {}, later(7 * DAY))?.state).toBe('unknown');
    expect(check('proven-backup', {}, later(14 * DAY))?.state).toBe('red');
  });

  test('of the recovery card is red once a key was set after it was made', () => {
    const rotated = record({}, [
      { type: 'key.set', at: ago(1), body: { fingerprint: OTHER, run: 'S', answer: 'accepted' } },
    ]);
    expect(check('recovery-card', { record: known(rotated) })).toMatchObject({
      state: 'red',
      code: 'card.outdated',
    });
  });

  test('of escrow needs enough holders who have shown that they can open the copy', () => {
    const copies = (recipients: readonly string[]) => [
      {
        type: 'custody.escrowed',
        at: ago(30),
        body: { fingerprint: KEY, epoch: 1, recipients, places: [{ place: 'store' }] },
      },
    ];
    const escrow = {
      ...{ recipients: [{ recipient: 'a' }, { recipient: 'b' }], atLeast: 2, proof: 90 * DAY },
      places: [{ name: 'store' }],
    };
    const state = (holders: readonly [string, string][], recipients = ['a', 'b']) => {
      const held = { ...record({}, copies(recipients)), holders: new Map(holders) };
      return check('escrow', { record: known(held), policy: { escrow } })?.state;
    };
    expect(
      state([
        ['a', ago(1)],
        ['b', ago(5)],
      ]),
    ).toBe('green');
    expect(
      state([
        ['a', ago(1)],
        ['b', ago(91 * 24)],
      ]),
    ).toBe('unknown');
    expect(state([['a', ago(1)]])).toBe('red');
    expect(
      state(
        [
          ['a', ago(1)],
          ['b', ago(5)],
        ],
        ['a'],
      ),
    ).toBe('red');
    expect(check('escrow', { policy: { escrow } })?.state).toBe('unknown');
  });

  test('of the target is red where it holds data, or is of another plan', () => {
    const target = emptyTarget('orders-dr');
    expect(check('target', { target })?.state).toBe('green');
    expect(check('target', { target: { ...target, record: known(record()) } })?.code).toBe('target.filled');
    const small = known({ state: 'available', plan: 'small' });
    const overview = known({ state: 'available', plan: 'large' });
    expect(check('target', { overview, target: { ...target, overview: small } })?.code).toBe('target.other');
  });

  test('of the target is red where a run would refuse it, and in the same words', () => {
    const of = (given: Partial<InstanceFacts>, policy = {}) =>
      check('target', { policy, target: emptyTarget('orders-dr', given) });
    const holds = (what: string) => ({
      ...{ state: 'red', code: 'target.filled' },
      reason: `target orders-dr is not empty: it holds ${what} of its own`,
    });
    expect(of({ restores: known(1) })).toMatchObject(holds('1 restore'));
    const done = [{ id: 1, triggeredAt: ago(1) }];
    const filled = { restores: known(2), backups: known({ done }), policy: { apps: ['shop', 'web'] } };
    expect(of(filled, { apps: ['shop'] })).toMatchObject(holds('1 bound app, 1 backup and 2 restores'));
    expect(of({ policy: { apps: ['shop'] } }, { apps: ['shop'] })?.state).toBe('green');
    expect(of({ overview: known({ state: 'stopped' }) })).toMatchObject({
      ...{ state: 'red', reason: 'target orders-dr is stopped' },
    });
  });

  test('of the target is UNKNOWN where its restores could not be listed', () => {
    for (const restores of [failed, { state: 'unasked' } as const])
      expect(check('target', { target: emptyTarget('orders-dr', { restores }) })?.state).toBe('unknown');
  });

  test('that is waived counts for nothing until the end of the waiver, which is a finding then', () => {
    const until = later(DAY).toISOString();
    const waivers = [{ check: 'pitr', reason: 'archiving is repaired', until, owner: 'dba' }] as const;
    const given = { window: known({ start: ago(48), end: ago(9) }), policy: { waivers } };
    expect(of(given).verdict).toBe('ready');
    expect(check('pitr', given)).toMatchObject({ state: 'red', waiver: { owner: 'dba', until } });
    expect(check('waivers', given)?.state).toBe('green');
    const over = { ...given, policy: { waivers: [{ ...waivers[0], until: ago(1) }] } };
    expect(of(over)).toMatchObject({ verdict: 'not-ready' });
    expect(check('waivers', over)).toMatchObject({ state: 'red', code: 'waiver.over' });
  });
});

describe('of any facts', () => {
  const part = <Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Part<Value>> =>
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.tuple(values, past).map(([value, at]) => ({ state: 'known', at, value }) as const),
      },
      fc.constantFrom<Part<Value>>(
        { state: 'unasked' },
        failed,
        { ...failed, code: 'credentials.refused' },
        { ...failed, code: 'service.not-found' },
      ),
    );
  const past = fc.integer({ min: 0, max: 40 * 24 }).map((hours) => new Date(ago(hours)));
  const hours = fc.integer({ min: -10, max: 40 * 24 });
  const facts: fc.Arbitrary<InstanceFacts> = fc
    .record({
      role: fc.constantFrom('source', 'target'),
      objectives: fc.constantFrom({}, { rpo: 4 * HOUR, rto: HOUR }, { rpo: 100 * HOUR }),
      overview: part(fc.constantFrom({ state: 'available' }, { state: 'stopped' }, { state: 'deleted' }, {})),
      backups: part(
        fc.record({
          done: fc.array(
            hours.map((at) => ({ id: 9, backupId: 'guid-9', triggeredAt: ago(at) })),
            { maxLength: 1 },
          ),
          skewMs: fc.constantFrom(0, HOUR, -HOUR),
        }),
      ),
      token: part(
        fc.oneof(
          fc.constantFrom({ kind: 'renewed' as const }, { kind: 'unsaid' as const }),
          hours.map((at) => ({ kind: 'until' as const, until: ago(at) })),
        ),
      ),
      window: part(
        fc.oneof(
          fc.constant('none' as const),
          hours.map((at) => ({ start: ago(900), end: ago(at) })),
        ),
      ),
      held: part(fc.constantFrom([KEY], [])),
      fits: fc.constantFrom(undefined, known([{ id: 9, key: KEY, tried: 1 }]), known([{ id: 9, tried: 1 }])),
      record: part(
        fc.oneof(
          hours.map((at) => record({ recovered: recovered(Math.max(0, at)) })),
          fc.constant(record({}, [], [])),
          fc.constant(record({ store: undefined })),
        ),
      ),
      seen: fc.option(
        hours.map((at) => ({ at: ago(at), backups: [] })),
        { nil: undefined },
      ),
      policy: fc.constantFrom(
        undefined,
        { drillEvery: 5 * DAY, evaluate: { every: HOUR, lastAt: ago(1) } },
        { waivers: [{ check: 'key-held' as const, reason: 'r', until: ago(-30) }] },
      ),
    })
    .map((given) => instance(given as Partial<InstanceFacts>));

  test('a later moment gives no better verdict', () => {
    fc.assert(
      fc.property(facts, fc.nat(60 * DAY), fc.nat(60 * DAY), (given, one, other) => {
        const [soon, late] = [one, other].toSorted((a, b) => a - b).map((ms) => evaluate(given, later(ms)));
        expect(RANK.indexOf(late?.verdict ?? 'empty')).toBeGreaterThanOrEqual(
          RANK.indexOf(soon?.verdict ?? 'not-ready'),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test('nothing is green after its period', () => {
    fc.assert(
      fc.property(facts, fc.nat(60 * DAY), (given, ms) => {
        for (const { id, state, ageSeconds = 0, periodSeconds } of evaluate(given, later(ms)).checks)
          if (state === 'green' && periodSeconds !== undefined)
            expect(ageSeconds, id).toBeLessThanOrEqual(periodSeconds);
      }),
    );
  });

  test.for<[part: keyof InstanceFacts, checks: readonly CheckId[]]>([
    ['overview', ['reachable']],
    ['token', ['token']],
    ['right', ['manage']],
    ['backups', ['reachable', 'newest-backup', 'key-opens']],
    ['window', ['pitr']],
    ['held', ['key-held']],
    ['record', ['store', 'calls', 'key-opens', 'key-held', 'proven-backup', 'recovery-card', 'restored']],
  ])('a missing %s is never green', ([name, checks]) => {
    fc.assert(
      fc.property(facts, fc.constantFrom<Part<never>>({ state: 'unasked' }, failed), (given, missing) => {
        const found = evaluate({ ...given, seen: undefined, [name]: missing }, NOW);
        for (const id of checks) expect(found.checks.find((one) => one.id === id)?.state).not.toBe('green');
        expect(['proven', 'ready', 'empty']).not.toContain(found.verdict);
      }),
    );
  });

  test('each check is there once, and every one that is asked has a period', () => {
    expect(of({}).checks.map(({ id }) => id)).toEqual(CHECK_IDS);
    const own: readonly CheckId[] = ['apps', 'waivers', 'evaluated'];
    expect(CHECK_IDS.filter((id) => PERIODS[id] === undefined)).toEqual(own);
  });
});
