import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import type { RunContext } from '../../machines/context.ts';
import { runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { statePath } from '../../machines/parts/states.ts';
import { eventsAt, outcomeEvent, questionAt } from './explore.ts';
import type { Outcome } from './outcomes.ts';
import { outcomesOf } from './recovery-outcomes.ts';

/** A run that is driven by hand: verbs end well unless `given` says otherwise, and a person answers. */
export function drive(id: string, input: object, given: Readonly<Record<string, Outcome[]>> = {}) {
  const runbook = runbooks[id] as Runbook;
  const left = Object.fromEntries(Object.entries(given).map(([verb, outcomes]) => [verb, [...outcomes]]));
  const passed: string[] = [];
  const sent: { readonly verb: string; readonly input: unknown }[] = [];
  let [snapshot]: [AnyMachineSnapshot, unknown] = initialTransition(
    runbook.machine,
    runbook.input.parse({ instance: 'orders', ...input }) as never,
  );
  const advance = () => {
    for (;;) {
      passed.push(statePath(snapshot));
      const [invoked] = Object.values(snapshot.children) as { readonly id: string; readonly src: unknown }[];
      if (snapshot.status !== 'active' || invoked === undefined) return;
      const verb = String(invoked.src);
      const outcome = left[verb]?.shift() ?? (outcomesOf(verb)[0] as Outcome);
      sent.push({ verb, input: (snapshot.children[invoked.id] as { input?: unknown } | undefined)?.input });
      [snapshot] = transition(runbook.machine, snapshot as never, outcomeEvent(invoked.id, outcome) as never);
    }
  };
  advance();
  return {
    passed,
    sent,
    state: () => statePath(snapshot),
    context: () => snapshot.context as RunContext,
    question: () => questionAt(runbook, snapshot),
    closing: () => runbook.closing(snapshot.context as never, statePath(snapshot)),
    answer(event: object) {
      [snapshot] = transition(runbook.machine, snapshot as never, event as never);
      advance();
    },
    /** The recommended answer, or the typed name. */
    goOn() {
      const events = eventsAt(runbook, snapshot, outcomesOf);
      const recommended = questionAt(runbook, snapshot)?.options.find((one) => one.recommended)?.event;
      this.answer(recommended ?? events.find(({ type }) => type === 'operator.confirm') ?? {});
    },
  };
}
