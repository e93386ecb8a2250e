import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { transition } from 'xstate';
import { touchesOfRun } from '../../machines/closing/evaluate.ts';
import { RunContext } from '../../machines/context.ts';
import { allRunbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { leavesOf, mainPathOf, nodesAt, statePath, stepsOf } from '../../machines/parts/states.ts';
import { landedOf } from '../../machines/parts/task-data.ts';
import { RUNBOOK_IDS, replacesData } from '../../machines/parts/touches.ts';
import { stillOpen } from '../../machines/parts/unfinished.ts';
import { effectsOf } from './effects.ts';
import { answersAt, keysOf, questionAt } from './explore.ts';
import { INPUTS } from './inputs.ts';
import { situationsOf } from './situations.ts';

const GRAPHS = RUNBOOK_IDS.map((id) => {
  const runbook = allRunbooks.find((one) => one.id === id) as Runbook;
  const starts = INPUTS[id].map((input) => runbook.input.parse({ instance: 'orders', ...input }));
  return {
    id,
    runbook,
    effects: effectsOf(runbook),
    situations: starts.flatMap((input) => situationsOf(runbook, input as object)),
  };
});

/** Said by the service: it is done, not by hand, and the instance is back. */
const GOOD = ['done', undefined, 'available'];

describe.each(GRAPHS)('every path through $id', ({ runbook, effects, situations }) => {
  test('no state is unreachable', () => {
    const reached = new Set(situations.map(({ snapshot }) => statePath(snapshot)));
    const all = leavesOf(runbook.machine).filter((path) => {
      const node = nodesAt(runbook.machine, path).at(-1);
      return node?.always === undefined && node?.key !== 'over';
    });
    expect(all.filter((name) => !reached.has(name))).toEqual([]);
  });

  test('no path reaches a destructive state without a confirmation after the last change of its facts', () => {
    const destructive = situations.filter(({ snapshot }) => snapshot.hasTag('destructive' as never));
    // A backup more destroys nothing.
    const changes = ['restore', 'instance', 'key'].some((effect) => effects.has(effect as never));
    expect(destructive.length > 0).toBe(changes);
    expect(destructive.filter(({ confirmed }) => !confirmed).map(({ path }) => path.join(' > '))).toEqual([]);
  });

  test('every question has an answer that can be chosen, no two have the same name, and each such answer moves the machine', () => {
    for (const { snapshot } of situations) {
      const question = questionAt(runbook, snapshot);
      if (question === undefined) continue;
      const answers = answersAt(runbook, snapshot);
      expect(answers.length, statePath(snapshot)).toBeGreaterThan(0);
      expect(new Set(keysOf(question)).size).toBe(question.options.length);
      for (const event of answers)
        expect(snapshot.can(event as never), `${statePath(snapshot)} ${event.type}`).toBe(true);
    }
  });

  test('the order under a typed name can be read alone: it names what is changed, and the prompt contains it', () => {
    for (const { snapshot } of situations) {
      const question = questionAt(runbook, snapshot);
      if (question?.kind !== 'typed-name') continue;
      expect(question.order, statePath(snapshot)).toContain(question.expected);
      if (question.event === 'operator.confirm') expect(question.prompt).toContain(` to ${question.order}`);
    }
  });

  test('no recommended answer destroys anything, and none is recommended beside a failure', () => {
    for (const { snapshot } of situations) {
      const recommended = (questionAt(runbook, snapshot)?.options ?? []).filter((one) => one.recommended);
      expect(recommended.length, statePath(snapshot)).toBeLessThanOrEqual(1);
      if (snapshot.hasTag('failed' as never)) expect(recommended).toEqual([]);
      for (const { event } of recommended) {
        const [next] = transition(runbook.machine, snapshot as never, event as never);
        expect(next.hasTag('destructive' as never)).toBe(false);
      }
    }
  });

  test('every failure state shows retry, skip, mark as done and stop, each enabled or with a reason', () => {
    const ways = ['operator.retry', 'operator.skip', 'operator.markDone', 'operator.stop'];
    const failed = situations.filter(
      ({ snapshot }) => snapshot.hasTag('failed' as never) && !statePath(snapshot).endsWith('.notInForce'),
    );
    for (const { snapshot } of failed) {
      const types = (questionAt(runbook, snapshot)?.options ?? []).map(({ event }) => event.type);
      // Beside a backup that cannot be seen any more, another one can be asked for.
      const isOfBackup = /^(?:safeguard|backup|fresh|waitForBackup)\.waitFailed$/u.test(statePath(snapshot));
      const [retry, ...others] = ways;
      const expected = isOfBackup ? [retry, 'operator.backUp', ...others] : ways;
      expect(types, statePath(snapshot)).toEqual(expected);
    }
  });

  test('every snapshot survives a round trip through JSON and fits its schema', () => {
    const schema = RunContext();
    // Many situations differ in their state alone.
    for (const text of new Set(situations.map(({ snapshot }) => JSON.stringify(snapshot.context)))) {
      const plain: unknown = JSON.parse(text);
      const parsed = schema.parse(plain);
      // The matcher, which is slow and says what differs, is asked only when something does.
      if (!isDeepStrictEqual(parsed, plain)) expect(parsed).toEqual(plain);
    }
  });

  test('a run ends with no open follow-ups, and is proven only by what the service said in it', () => {
    for (const { snapshot } of situations) {
      const context = snapshot.context as RunContext;
      const closing = runbook.closing(context as never, statePath(snapshot));
      expect(runbook.facts(context as never)).toBeInstanceOf(Array);
      if (snapshot.status !== 'done') continue;
      expect(stillOpen(context.followUps.list)).toEqual([]);
      if (!closing.proven) continue;
      const { restore, act, available, proof, card } = context;
      if (replacesData(touchesOfRun(context)))
        expect([restore.restore?.status, restore.outside, available.ready?.state]).toEqual(GOOD);
      else if (effects.has('instance')) expect(['done', act.outside, available.ready?.state]).toEqual(GOOD);
      else if (runbook.id === 'plan-step')
        expect(
          context.outside.found !== undefined ||
            context.outside.approved > 0 ||
            landedOf(act) !== undefined ||
            context.run.step?.kind === 'wait',
        ).toBe(true);
      // What leaves data and instance as they are is proven by a backup that a key opened, now or before.
      else expect(proof.verification ?? card.card?.proven).toBeDefined();
    }
  });

  test('while a follow-up is open after a restore, the run cannot be stopped', () => {
    for (const { snapshot } of situations) {
      const { list } = (snapshot.context as RunContext).followUps;
      const open = stillOpen(list).filter(({ kind }) => kind !== 'release-updates');
      if (snapshot.status === 'done' || open.length === 0) continue;
      const types = answersAt(runbook, snapshot).map(({ type }) => type);
      expect(types, statePath(snapshot)).not.toContain('operator.stop');
    }
  });

  test('its phases have a title and states that lead on, and contain all that a run without trouble passes', () => {
    const steps = stepsOf(runbook.machine);
    expect(steps.length).toBeGreaterThan(4);
    for (const { id, title } of steps) {
      expect(title, id).not.toBe(id);
      expect(Object.keys(runbook.machine.states[id]?.states ?? {}), id).toContain('over');
    }
    const path = mainPathOf(runbook.machine);
    expect(path.filter((state) => !steps.some(({ id }) => state.startsWith(`${id}.`)))).toEqual([]);
  });
});
