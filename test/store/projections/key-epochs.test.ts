import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entry, Json } from '../../../src/store/journal.ts';
import {
  candidates,
  currentKey,
  foldEpochs,
  type KeyEpoch,
  readKeyFact,
} from '../../../src/store/projections/key-epochs.ts';

const A = 'aaaaaaaaaaaa';
const B = 'bbbbbbbbbbbb';
const C = 'cccccccccccc';

type Fact = readonly [type: string, body: { readonly [field: string]: Json }];

const pending = (fingerprint: string, origin = 'generated'): Fact => [
  'key.pending',
  { fingerprint, run: 'r', origin, store: 'vault', length: 43 },
];
const set = (fingerprint: string, answer = 'accepted'): Fact => [
  'key.set',
  { fingerprint, run: 'r', answer },
];
const uncertain = (fingerprint: string, previous?: string): Fact => [
  'key.uncertain',
  { fingerprint, run: 'r', ...(previous === undefined ? {} : { previous }) },
];
const proven = (fingerprint: string): Fact => [
  'key.proven',
  {
    fingerprint,
    run: 'r',
    backup: { id: 7, backup_id: 'g-1' },
    verdict: 'readable',
    cipherSha256: '00',
    negative: 'refused',
  },
];
const refuted = (fingerprint: string): Fact => ['key.refuted', { fingerprint, run: 'r', backup: { id: 8 } }];
const added = (fingerprint: string, note = 'from the safe'): Fact => ['key.added', { fingerprint, note }];

function ledger(facts: readonly Fact[]): Entry[] {
  return facts.map(([type, body], index) => ({
    stream: 'instance/orders',
    seq: index + 1,
    at: at(index + 1),
    by: 'kim',
    type,
    body,
    index,
    hash: '',
  }));
}

/** The time of the entry with this number. */
function at(seq: number): string {
  return new Date(Date.UTC(2026, 0, 1) + seq * 60_000).toISOString();
}

function fold(...facts: readonly Fact[]) {
  const epochs = foldEpochs(ledger(facts));
  return {
    of: (fingerprint: string): KeyEpoch | undefined =>
      epochs.find((epoch) => epoch.fingerprint === fingerprint),
    current: currentKey(epochs)?.fingerprint,
    candidates: candidates(epochs).map(({ fingerprint }) => fingerprint),
  };
}

describe('the key epochs of an instance', () => {
  it('follow a rotation from pending over set to proven, with the times of the entries', () => {
    const facts = [pending(A), set(A), proven(A), pending(B), set(B), proven(B)] as const;
    const done = fold(...facts);
    expect(done.of(A)).toMatchObject({ state: 'proven', setAt: at(2), provenAt: at(3), endedAt: at(5) });
    expect(done.of(A)).toMatchObject({ endedBy: B, origin: 'generated' });
    expect(done.of(B)).toMatchObject({ state: 'proven', setAt: at(5), provenAt: at(6), endedAt: undefined });
    expect([done.current, done.candidates]).toEqual([B, [B]]);
    const begun = fold(...facts.slice(0, 4));
    expect([begun.of(B)?.state, begun.current, begun.candidates]).toEqual(['pending', A, [B, A]]);
  });

  it('name no current key while an answer is lost, and keep both keys', () => {
    const lost = fold(set(A), pending(B), uncertain(B, A));
    expect(lost.of(B)?.state).toBe('uncertain');
    expect(lost.current).toBeUndefined();
    expect(lost.candidates).toEqual([B, A]);
  });

  it('resolve the doubt by evidence, either way', () => {
    const landed = fold(set(A), pending(B), uncertain(B, A), set(B, 'adopted'));
    expect([landed.current, landed.candidates]).toEqual([B, [B]]);
    expect(landed.of(A)).toMatchObject({ endedAt: at(4), endedBy: B });
    const absent = fold(set(A), pending(B), uncertain(B, A), refuted(B));
    expect([absent.current, absent.candidates]).toEqual([A, [A]]);
    expect(absent.of(B)).toMatchObject({ state: 'refuted', setAt: undefined, endedAt: at(4) });
  });

  it('treat a proof as the answer for a new key, but not for a key that may be older', () => {
    expect(fold(set(A), pending(B), uncertain(B, A), proven(B)).current).toBe(B);
    const given = fold(set(A), pending(B, 'given'), uncertain(B, A), proven(B));
    expect([given.current, given.of(B)?.state, given.of(B)?.provenAt]).toEqual([
      undefined,
      'uncertain',
      at(4),
    ]);
  });

  it('are not made certain by a proof of the key before', () => {
    const doubt = fold(set(A), pending(B), uncertain(B, A), proven(A));
    expect([doubt.current, doubt.candidates]).toEqual([undefined, [B, A]]);
  });

  it('drop an old doubt when a key set after it is proven, not before', () => {
    const facts = [set(A), pending(B), uncertain(B, A), pending(C), set(C)] as const;
    expect(fold(...facts)).toMatchObject({ current: C, candidates: [C, B] });
    expect(fold(...facts, proven(C))).toMatchObject({ current: C, candidates: [C] });
  });

  it('continue with the previous key when a set key is refuted', () => {
    const refutedLater = fold(set(A), pending(B), set(B), refuted(B));
    expect(refutedLater.current).toBe(A);
    expect(refutedLater.of(A)).toMatchObject({ endedAt: undefined, endedBy: undefined });
    const replacedSince = fold(set(A), pending(B), set(B), pending(C), set(C), refuted(B));
    expect(replacedSince.current).toBe(C);
    expect(replacedSince.of(A)).toMatchObject({ endedAt: at(5), endedBy: C });
  });

  it('end a proven key that no longer opens, without restoring the previous one', () => {
    const outside = fold(set(A), set(B), proven(B), refuted(B));
    expect([outside.current, outside.of(B)?.state, outside.of(B)?.endedAt]).toEqual([
      undefined,
      'proven',
      at(4),
    ]);
    expect(outside.of(A)?.endedAt).toBe(at(2));
  });

  it('keep the earlier period of a key that is set again', () => {
    const again = fold(set(A), set(B), pending(A), set(A));
    expect(again.of(A)).toMatchObject({
      state: 'set',
      setAt: at(4),
      endedAt: undefined,
      earlier: [{ setAt: at(1), endedAt: at(2) }],
    });
    expect(again.current).toBe(A);
    const refutedAgain = fold(set(A), set(B), set(C), pending(B), uncertain(B, C), refuted(B));
    expect(refutedAgain.current).toBe(C);
    expect(refutedAgain.of(A)?.endedAt).toBe(at(2));
  });

  it('remember a key stored by hand, and assume nothing about when it was in force', () => {
    const byHand = fold(set(A), added(B), proven(B));
    expect(byHand.of(B)).toMatchObject({ state: 'proven', setAt: undefined, note: 'from the safe' });
    expect([byHand.current, byHand.candidates]).toEqual([A, [B, A]]);
    expect(fold(added(B), pending(A), set(A)).candidates).toEqual([A]);
  });

  it('remember a predecessor that was unknown to the ledger, or believed to have ended', () => {
    expect(fold(uncertain(B, A)).candidates).toEqual([B, A]);
    expect(fold(set(A), set(B), uncertain(C, A))).toMatchObject({
      current: undefined,
      candidates: [C, A, B],
    });
    expect(fold(uncertain(B, A), set(B)).candidates).toEqual([B]);
  });

  it('ignore entries of other types, and keep a key whose entry is broken', () => {
    expect(fold(['card.prepared', { fingerprint: A }]).candidates).toEqual([]);
    expect(fold(['toString', { fingerprint: A }]).candidates).toEqual([]);
    const broken = fold(set(A), ['key.set', { fingerprint: B, answer: 'by telepathy' }]);
    expect([broken.of(B)?.state, broken.current, broken.candidates]).toEqual([
      'uncertain',
      undefined,
      [B, A],
    ]);
  });
});

describe('folding any ledger', () => {
  const fingerprint = fc.constantFrom(A, B, C, 'dddddddddddd');
  const good: fc.Arbitrary<Fact> = fc.oneof(
    fc
      .tuple(fingerprint, fc.constantFrom('generated', 'given'))
      .map(([name, origin]) => pending(name, origin)),
    fingerprint.map((name) => set(name)),
    fc.tuple(fingerprint, fc.option(fingerprint, { nil: undefined })).map(([name, p]) => uncertain(name, p)),
    fingerprint.map(proven),
    fingerprint.map(refuted),
    fingerprint.map((name) => added(name)),
    fingerprint.map((name): Fact => ['key.sent', { fingerprint: name, run: 'r' }]),
    fingerprint.map((name): Fact => ['key.refused', { fingerprint: name, run: 'r' }]),
  );
  const types = [
    'key.pending',
    'key.set',
    'key.uncertain',
    'key.proven',
    'key.refuted',
    'key.added',
    'key.sent',
    'key.refused',
    '__proto__',
  ];
  const wild: fc.Arbitrary<readonly [string, Json]> = fc.tuple(
    fc.oneof(fc.constantFrom(...types), fc.string()),
    fc.oneof(
      fc.jsonValue() as fc.Arbitrary<Json>,
      fc.tuple(fingerprint, fc.jsonValue()).map(([name, x]) => ({ fingerprint: name, run: x as Json })),
    ),
  );

  it('never fails and never forgets a fingerprint', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(good, wild)), (facts) => {
        const entries = ledger(facts as Fact[]);
        const named = entries.flatMap((entry) => readKeyFact(entry)?.body.fingerprint ?? []);
        const found = foldEpochs(entries).map((epoch) => epoch.fingerprint);
        expect(new Set(found).size).toBe(found.length);
        expect(found).toEqual(expect.arrayContaining(named));
      }),
    );
  });

  it('names a fingerprint whatever the state of the rest of its entry', () => {
    fc.assert(
      fc.property(fc.constantFrom(...types.slice(0, 8)), fingerprint, fc.jsonValue(), (type, name, rest) => {
        const body = { ...(typeof rest === 'object' ? rest : {}), fingerprint: name } as Fact[1];
        expect(foldEpochs(ledger([[type, body]])).map((epoch) => epoch.fingerprint)).toContain(name);
      }),
    );
  });

  it('has at most one key in force, among the candidates, and only candidates have not ended', () => {
    fc.assert(
      fc.property(fc.array(good), (facts) => {
        const epochs = foldEpochs(ledger(facts));
        const open = epochs.filter(({ endedAt }) => endedAt === undefined);
        expect(open.filter(({ setAt }) => setAt !== undefined).length).toBeLessThanOrEqual(1);
        expect(new Set(candidates(epochs))).toEqual(new Set(open));
        const current = currentKey(epochs);
        if (current !== undefined) expect(candidates(epochs)).toContain(current);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps every key possible that was stored or sent last, whatever came before', () => {
    fc.assert(
      fc.property(fc.array(good), fingerprint, (facts, name) => {
        for (const last of [pending(name), uncertain(name), set(name)]) {
          const possible = candidates(foldEpochs(ledger([...facts, last])));
          expect(possible[0]?.fingerprint).toBe(name);
        }
      }),
    );
  });

  it('affects only what a truncated entry is about: earlier entries give the same result as before', () => {
    fc.assert(
      fc.property(fc.array(good), (facts) => {
        const names = foldEpochs(ledger(facts)).map((epoch) => epoch.fingerprint);
        facts.forEach((_fact, length) => {
          const shorter = foldEpochs(ledger(facts.slice(0, length)));
          expect(names.slice(0, shorter.length)).toEqual(shorter.map((epoch) => epoch.fingerprint));
        });
      }),
    );
  });
});
