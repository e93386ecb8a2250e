import { describe, expect, test } from 'vitest';
import type { LedgerFact } from '../../src/activities/activity.ts';
import { prepareRecovery, setKey } from '../../src/activities/change-key.ts';
import { lateKeyUntil } from '../../src/keys/keyring.ts';
import type { Entry } from '../../src/store/journal.ts';
import { currentKey, foldEpochs } from '../../src/store/projections/key-epochs.ts';
import { fakeService, type Outcome, STORED_KEY } from './fake-service.ts';
import { contextOf } from './world.ts';

const LOST: Outcome = { done: true, answer: 'lost' };
const REFUSED: Outcome = { done: false, answer: 'refused' };
const OLD = 'aaaaaaaaaaaa';
const OTHER = 'eeeeeeeeeeee';
const START = Date.parse('2026-11-20T10:00:00Z');
const iso = (ms: number) => new Date(ms).toISOString();
const input = { fingerprint: STORED_KEY, previous: OLD };

describe.for([
  { what: 'setting a key', verb: setKey },
  { what: 'preparing a recovery with a key', verb: prepareRecovery },
])('$what', ({ verb }) => {
  /**
   * A ledger that grows as the runner writes it, on a machine whose clock stands still between two
   * performances.
   */
  function world() {
    const fake = fakeService();
    const clock = { ms: START };
    const write = async (facts: readonly LedgerFact[] = []) => {
      for (const fact of facts) {
        const at = iso(clock.ms);
        fake.ledger.push({ ...fact, at, seq: fake.ledger.length + 1 } as unknown as Entry);
      }
    };
    const context = contextOf(() => new Date(clock.ms), { announce: write });
    const perform = async () => {
      const result = await verb(fake.deps).run(input, context);
      await write(result.ledger);
      return result;
    };
    /** The process dies while the request is under way: its outcome is not written. */
    const dieInside = async () => {
      await verb(fake.deps).run(input, context);
    };
    const state = () => foldEpochs(fake.ledger).find(({ fingerprint }) => fingerprint === STORED_KEY)?.state;
    const types = () => fake.ledger.map(({ type }) => type);
    return { fake, clock, write, perform, dieInside, state, types };
  }

  test('records the key as sent before a byte is sent, and as set once the service accepted it', async () => {
    const { fake, perform, types, state } = world();
    fake.beforeChange = () => expect(types()).toEqual(['key.sent']);
    expect(await perform()).toMatchObject({ ok: true, output: { answer: 'accepted', status: 202 } });
    expect(fake.calls).toHaveLength(1);
    expect([types(), state()]).toEqual([['key.sent', 'key.set'], 'set']);
  });

  test('is KEY UNCERTAIN if the answer is lost: the ledger keeps both keys', async () => {
    const { fake, perform, types, state } = world();
    fake.outcomes.push(LOST);
    expect(await perform()).toMatchObject({
      ok: true,
      output: { answer: 'unknown', failure: { code: 'service.timeout' } },
    });
    expect([types(), state()]).toEqual([['key.sent', 'key.uncertain'], 'uncertain']);
    expect(fake.ledger.at(-1)?.body).toEqual({
      at: iso(START),
      fingerprint: STORED_KEY,
      previous: OLD,
      run: 'R',
    });
  });

  test('leaves no doubt when the only request was refused', async () => {
    const { fake, write, perform, types, state } = world();
    await write([{ type: 'key.set', body: { fingerprint: OLD, run: 'r', answer: 'accepted' } }]);
    fake.outcomes.push(REFUSED);
    expect(await perform()).toMatchObject({ ok: false, failure: { code: 'service.invalid' } });
    expect([types().slice(1), state()]).toEqual([['key.sent', 'key.refused'], 'pending']);
    expect(currentKey(foldEpochs(fake.ledger))?.fingerprint).toBe(OLD);
  });

  test('is in doubt in the ledger if the process dies inside', async () => {
    const { dieInside, state } = world();
    await dieInside();
    expect(state()).toBe('uncertain');
  });

  test('is KEY UNCERTAIN if it is repeated after a crash and refused: a refusal answers one request', async () => {
    const { fake, perform, dieInside, types, state } = world();
    await dieInside();
    fake.outcomes.push(REFUSED);
    const result = await perform();
    expect(result).toMatchObject({ ok: true, output: { answer: 'unknown', failure: { code: 'doubt.key' } } });
    expect([types(), state()]).toEqual([
      ['key.sent', 'key.sent', 'key.refused', 'key.uncertain'],
      'uncertain',
    ]);
  });

  test('is KEY UNCERTAIN if the key is missing at the repetition, without claiming that nothing was ever sent', async () => {
    const { fake, perform, dieInside } = world();
    await dieInside();
    Object.assign(fake.deps.keyring, { load: async () => undefined });
    const result = await perform();
    expect(result).toMatchObject({ ok: true, output: { answer: 'unknown', failure: { code: 'doubt.key' } } });
    expect(fake.calls).toHaveLength(1);
  });

  test('is certain again when the repetition is accepted', async () => {
    const { perform, dieInside, state } = world();
    await dieInside();
    expect(await perform()).toMatchObject({ ok: true, output: { answer: 'accepted' } });
    expect(state()).toBe('set');
  });

  test('leaves no doubt if the credentials were refused, and pauses the run as any call does', async () => {
    const { fake, perform, state } = world();
    fake.outcomes.push({ done: false, answer: 'unauthorised' });
    expect(await perform()).toMatchObject({ ok: false, failure: { code: 'credentials.refused' } });
    expect(state()).toBe('pending');
  });

  test('sends nothing while a request with another key may still arrive', async () => {
    const { fake, clock, write, perform, types } = world();
    await write([{ type: 'key.sent', body: { fingerprint: OTHER, run: 'another' } }]);
    clock.ms += fake.deps.inFlightMs - 1;
    expect(await perform()).toMatchObject({ ok: false, failure: { code: 'key.may-arrive' } });
    expect([fake.calls, types()]).toEqual([[], ['key.sent']]);
    clock.ms += 1;
    expect(await perform()).toMatchObject({ ok: true, output: { answer: 'accepted' } });
  });

  test('measures that time by the clock of the machine that sends, not by the one that stamps the ledger', async () => {
    const { fake, clock, dieInside, perform } = world();
    clock.ms += 1_000;
    await dieInside();
    for (const entry of fake.ledger) Object.assign(entry, { at: iso(START - 20 * 60_000) });
    expect(lateKeyUntil(foldEpochs(fake.ledger), { inFlightMs: 5_000, nowMs: clock.ms }, OTHER)).toBe(
      clock.ms + 5_000,
    );
    fake.outcomes.push(LOST);
    await perform();
    const last = fake.ledger.at(-1);
    expect(last).toMatchObject({ type: 'key.uncertain', body: { at: iso(clock.ms) } });
  });

  test('sends nothing if the ledger rejects the announcement', async () => {
    const { fake } = world();
    const announce = () => Promise.reject(new Error('the disk is full'));
    await verb(fake.deps).run(
      input,
      contextOf(() => new Date(START), { announce }),
    );
    expect(fake.calls).toEqual([]);
  });

  test('sends nothing for a key that is not stored', async () => {
    const { fake, types } = world();
    const result = await verb(fake.deps).run(
      { fingerprint: 'dddddddddddd' },
      contextOf(() => new Date(START)),
    );
    expect(result).toMatchObject({ ok: false, failure: { code: 'key.not-stored' } });
    expect([fake.calls, types()]).toEqual([[], []]);
  });
});
