import { describe, expect, test } from 'vitest';
import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import { runbooks } from '../../machines/index.ts';
import type { Question } from '../../machines/parts/question.ts';
import type { StateMeta } from '../../machines/parts/runbook.ts';
import { statePath } from '../../machines/parts/states.ts';
import { RotateKeyContext } from '../../machines/rotate-key/context.ts';
import { rotateKeyMachine } from '../../machines/rotate-key.ts';
import { outcomesOf } from './outcomes.ts';

/** Every situation that the machine can be in, found by giving every possible outcome and answer, each once for each situation. */
interface Situation {
  readonly snapshot: AnyMachineSnapshot;
  readonly path: readonly string[];
  /** True when the operator has confirmed since the facts last changed. */
  readonly confirmed: boolean;
}

const situations = explore();
const reached = new Set(situations.map(({ snapshot }) => statePath(snapshot)));

describe('every path through rotate-key', () => {
  test('the exploration is not trivial, and no state is unreachable', () => {
    expect(situations.length).toBeGreaterThan(200);
    const transient = Object.entries(rotateKeyMachine.config.states ?? {})
      .filter(([, state]) => 'always' in state)
      .map(([name]) => name);
    const all = Object.keys(rotateKeyMachine.states).filter((name) => !transient.includes(name));
    expect([...reached].sort()).toEqual(all.sort());
  });

  test('no path reaches a destructive state without a confirmation after the last change of its facts', () => {
    const destructive = situations.filter(({ snapshot }) => snapshot.hasTag('destructive' as never));
    expect(destructive.length).toBeGreaterThan(0);
    expect(destructive.filter(({ confirmed }) => !confirmed).map(({ path }) => path.join(' > '))).toEqual([]);
  });

  test('no key is sent before it is stored', () => {
    for (const { snapshot } of situations) {
      if (statePath(snapshot) === 'settingKey') expect(snapshot.context.key).toBeDefined();
    }
  });

  test('nothing is called proven without a full read with the new key and old keys that failed', () => {
    const proven = situations.filter(({ snapshot }) => snapshot.status === 'done' && snapshot.context.proven);
    expect(proven.length).toBeGreaterThan(0);
    for (const { snapshot } of proven) {
      const { verification, key, negative } = snapshot.context as RotateKeyContext;
      expect(verification?.opens).toBe(key?.fingerprint);
      expect(negative?.opened).toEqual([]);
    }
  });

  test('a backup that opens with another key is not the last word where it was adopted: then another one can be asked for', () => {
    const found = situations.filter(({ snapshot }) => statePath(snapshot) === 'keyNotInForce');
    expect(found.length).toBeGreaterThan(0);
    for (const { snapshot } of found) {
      const [next] = transition(rotateKeyMachine, snapshot as never, { type: 'operator.retry' });
      expect([statePath(next), next.context.intents]).toEqual([
        'creatingBackup',
        snapshot.context.intents + 1,
      ]);
    }
    for (const { snapshot } of found) {
      const isAdopted = snapshot.context.backup?.adopted === true;
      const question = questionAt(snapshot);
      expect(question?.prompt.includes('may be from before the change')).toBe(isAdopted);
      expect(question?.options.some(({ event }) => event.type === 'operator.retry')).toBe(isAdopted);
    }
  });

  test('every snapshot survives a round trip through JSON and fits its schema', () => {
    for (const { snapshot } of situations) {
      const parsed = RotateKeyContext.parse(JSON.parse(JSON.stringify(snapshot.context)));
      expect(parsed).toEqual(JSON.parse(JSON.stringify(snapshot.context)));
    }
  });

  test('every situation that waits for a person offers a way to stop or back', () => {
    for (const { snapshot } of situations) {
      const question = questionAt(snapshot);
      if (question === undefined) continue;
      const ways = question.options
        .filter((option) => option.disabled === undefined)
        .map(({ event }) => event.type);
      expect(ways.some((type) => type === 'operator.stop' || type === 'operator.back')).toBe(true);
    }
  });

  test('every failure state shows retry, skip, mark as done outside and stop, each open or with the reason why not', () => {
    const general = [
      'checkFailed',
      'blocked',
      'oldProofFailed',
      'storeFailed',
      'setFailed',
      'backupFailed',
      'waitFailed',
      'downloadFailed',
      'verifyFailed',
      'negativeFailed',
      'recordFailed',
    ];
    for (const name of general) {
      const found = situations.find(({ snapshot }) => statePath(snapshot) === name);
      const question = found === undefined ? undefined : questionAt(found.snapshot);
      expect(question?.options.map(({ event }) => event.type)).toEqual([
        'operator.retry',
        'operator.skip',
        'operator.markDone',
        'operator.stop',
      ]);
    }
  });

  test('every open answer to every question moves the machine', () => {
    for (const { snapshot } of situations) {
      for (const event of answersAt(snapshot))
        expect(snapshot.can(event as never), `${statePath(snapshot)} ${event.type}`).toBe(true);
    }
  });

  test('no recommended answer destroys or passes a failure', () => {
    for (const { snapshot } of situations) {
      const recommended = questionAt(snapshot)?.options.filter((option) => option.recommended) ?? [];
      expect(recommended.length).toBeLessThanOrEqual(1);
      if (snapshot.hasTag('failed' as never)) expect(recommended).toEqual([]);
      for (const { event } of recommended) {
        const [next] = transition(rotateKeyMachine, snapshot as never, event as never);
        expect(next.hasTag('destructive')).toBe(false);
      }
    }
  });
});

describe('the registry', () => {
  test.each(Object.values(runbooks))('$id names steps and a main path that exist', (runbook) => {
    const steps = new Set(runbook.steps.map(({ id }) => id));
    for (const [name, state] of Object.entries(runbook.machine.states)) {
      expect(steps, name).toContain((state.meta as StateMeta<unknown, never>).step);
    }
    for (const state of runbook.mainPath) expect(Object.keys(runbook.machine.states)).toContain(state);
  });

  test('facts, failure and closing can be told in every situation', () => {
    const runbook = runbooks['rotate-key'];
    for (const { snapshot } of situations) {
      expect(runbook?.facts(snapshot.context as never)).toBeInstanceOf(Array);
      const closing = runbook?.closing(snapshot.context as never, statePath(snapshot));
      expect(closing?.proven).toBe(statePath(snapshot) === 'done' && snapshot.context.proven);
    }
  });
});

function explore(): Situation[] {
  const [snapshot] = initialTransition(rotateKeyMachine, { instance: 'orders' });
  const first: Situation = { snapshot, path: [], confirmed: false };
  const seen = new Map([[identity(first), first]]);
  const queue = [first];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const event of eventsAt(at.snapshot)) {
      const [next] = transition(rotateKeyMachine, at.snapshot as never, event as never);
      const groundChanged =
        JSON.stringify(next.context.facts?.ground) !== JSON.stringify(at.snapshot.context.facts?.ground);
      const keyChanged = next.context.key?.fingerprint !== at.snapshot.context.key?.fingerprint;
      const situation: Situation = {
        snapshot: next,
        path: [...at.path, event.type],
        confirmed: event.type === 'operator.confirm' || (at.confirmed && !groundChanged && !keyChanged),
      };
      const id = identity(situation);
      if (seen.has(id)) continue;
      seen.set(id, situation);
      queue.push(situation);
    }
  }
  return [...seen.values()];
}

/** Situations that differ only in what no later guard looks at count as one. */
function identity({ snapshot, confirmed }: Situation): string {
  const context = snapshot.context as RotateKeyContext;
  const { facts, key, setting, verification, absences, drift, proven } = context;
  const asked = statePath(snapshot) === 'offeringOldProof' ? facts?.keysHeld.length : undefined;
  return JSON.stringify([
    statePath(snapshot),
    confirmed,
    facts?.ground.newestBackup,
    asked,
    key?.fingerprint,
    setting?.answer,
    verification?.opens,
    absences,
    drift.length,
    proven,
  ]);
}

interface AnyEvent {
  readonly type: string;
}

function eventsAt(snapshot: AnyMachineSnapshot): AnyEvent[] {
  const [invoked] = Object.values(snapshot.children) as { readonly id: string; readonly src: unknown }[];
  if (invoked === undefined) return answersAt(snapshot);
  const { id, src } = invoked;
  const outcomes = outcomesOf(String(src)).map((outcome) =>
    'error' in outcome
      ? { type: `xstate.error.actor.${id}`, actorId: id, error: outcome.error }
      : { type: `xstate.done.actor.${id}`, actorId: id, output: outcome.output },
  );
  const beside = metaAt(snapshot)?.beside?.(snapshot.context) ?? [];
  return [...outcomes, ...beside.map(({ event }) => event)];
}

function answersAt(snapshot: AnyMachineSnapshot): AnyEvent[] {
  const question = questionAt(snapshot);
  if (question === undefined) return [];
  const options = question.options
    .filter((option) => option.disabled === undefined)
    .map((option) => (option.needs === undefined ? option.event : { ...option.event, text: 'because' }));
  if (question.kind === 'typed-name')
    return [...options, { type: question.event, typed: question.expected } as AnyEvent];
  if (question.kind === 'secret')
    return [...options, { type: question.event, fingerprint: 'bbbbbbbbbbbb', length: 40 } as AnyEvent];
  return options;
}

function questionAt(snapshot: AnyMachineSnapshot): Question | undefined {
  return metaAt(snapshot)?.question?.(snapshot.context) as Question | undefined;
}

function metaAt(snapshot: AnyMachineSnapshot): StateMeta<unknown, never> | undefined {
  return rotateKeyMachine.states[statePath(snapshot) as 'checking']?.meta as
    | StateMeta<unknown, never>
    | undefined;
}
