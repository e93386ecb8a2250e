import { describe, expect, test } from 'vitest';
import { transition } from 'xstate';
import type { RunContext } from '../../machines/context.ts';
import { runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { statePath } from '../../machines/parts/states.ts';
import { questionAt } from './explore.ts';
import { situationsOf } from './situations.ts';

const runbook = runbooks['rotate-key'] as Runbook;
const situations = situationsOf(runbook, { instance: 'orders' });

describe('every path through rotate-key', () => {
  test('the exploration is not trivial', () => {
    expect(situations.length).toBeGreaterThan(200);
  });

  test('no key is sent before it is stored', () => {
    for (const { snapshot } of situations) {
      if (statePath(snapshot) === 'change.sending') expect(snapshot.context.key.stored).toBeDefined();
    }
  });

  test('nothing is called proven without a full read with the new key, and failed attempts with old keys', () => {
    const proven = situations.filter(
      ({ snapshot }) => snapshot.status === 'done' && snapshot.context.record.isProven,
    );
    expect(proven.length).toBeGreaterThan(0);
    for (const { snapshot } of proven) {
      const { proof, key } = snapshot.context as RunContext;
      expect(proof.verification?.opens).toBe(key.stored?.fingerprint);
      expect(proof.negative?.opened).toEqual([]);
    }
  });

  test('when an adopted backup opens with another key, another backup can be requested', () => {
    const found = situations.filter(({ snapshot }) => statePath(snapshot) === 'change.notInForce');
    expect(found.length).toBeGreaterThan(0);
    for (const { snapshot } of found) {
      const [next] = transition(runbook.machine, snapshot as never, { type: 'operator.retry' });
      expect([statePath(next), next.context.backup.intents]).toEqual([
        'backup.sending',
        snapshot.context.backup.intents + 1,
      ]);
    }
    for (const { snapshot } of found) {
      const isAdopted = snapshot.context.backup.send.adopted === true;
      const question = questionAt(runbook, snapshot);
      expect(question?.prompt.includes('may be from before the change')).toBe(isAdopted);
      expect(question?.options.some(({ event }) => event.type === 'operator.retry')).toBe(isAdopted);
    }
  });

  test('every situation that waits for a person offers a way to stop or to go back', () => {
    for (const { snapshot } of situations) {
      const question = questionAt(runbook, snapshot);
      if (question === undefined) continue;
      const ways = question.options
        .filter((option) => option.disabled === undefined)
        .map(({ event }) => event.type);
      expect(ways.some((type) => type === 'operator.stop' || type === 'operator.back')).toBe(true);
    }
  });

  test('it is proven exactly when it is done and the ledger says so', () => {
    for (const { snapshot } of situations) {
      const closing = runbook.closing(snapshot.context as never, statePath(snapshot));
      expect(closing.proven).toBe(statePath(snapshot) === 'done' && snapshot.context.record.isProven);
    }
  });
});
