import type { GroupDecision } from '../../machines/parts/plan-events.ts';
import type { Answer } from '../../machines/parts/question.ts';
import { Secret } from '../../src/base/secret.ts';
import { NO_FACTS } from '../../src/tui/facts.ts';
import type { AppEffect, LiveScreen } from '../../src/tui/live-screen.ts';
import { planScreen } from '../../src/tui/screens/plan/plan-screen.ts';
import type { PlanPort, PlanView } from '../../src/view/plan/plan-view.ts';
import { NOW_MS } from '../view/plan/fake-plan.ts';
import { LOOK, press, SIZE, shownRows } from './fake-fleet.ts';

/** The screen of a plan over a view that a test changes, with what the person did to it. */
export function openedPlan(first: PlanView, refuses: (runId: string) => Error | undefined = () => undefined) {
  let [view, nowMs] = [first, NOW_MS];
  const listeners = new Set<() => void>();
  const did = {
    answers: [] as { readonly runId: string; readonly answer: Answer }[],
    decisions: [] as { readonly event: GroupDecision; readonly order: string }[],
    woken: [] as string[],
    effects: [] as AppEffect[],
    left: 0,
  };
  const port: PlanPort = {
    view: () => view,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    answerPlan: async (answer) => void did.answers.push({ runId: 'plan', answer }),
    answer: async (runId, answer) => {
      const refusal = refuses(runId);
      if (refusal !== undefined) throw refusal;
      did.answers.push({ runId, answer });
    },
    decide: async (event, order) => void did.decisions.push({ event, order }),
    wake: (runId) => void did.woken.push(runId),
    newest: async (runId) => [{ at: '11:59:00', text: `the newest line of ${runId}`, tone: 'plain' }],
    leave: async () => undefined,
    ended: new Promise(() => undefined),
  };
  const screen: LiveScreen & { stop(): void } = planScreen(port, {
    facts: NO_FACTS,
    now: () => new Date(nowMs),
    enter: async () => new Secret('a key that nobody sees'),
    onEffect: (effect) => did.effects.push(effect),
    onDone: () => {
      did.left += 1;
    },
  });
  const rows = (size = SIZE, look = LOOK) => shownRows(screen, size, look);
  return {
    did,
    screen,
    rows,
    text: (size = SIZE) => rows(size).join('\n'),
    /** Presses keys like a person who looks at the screen before each one. */
    keys: (...keys: readonly string[]) => {
      for (const key of keys) {
        rows();
        nowMs += 1_000;
        press(screen, key);
      }
    },
    /** Presses a key again and again, as one that is held down. */
    hold: (key: string, times: number) => {
      rows();
      nowMs += 1_000;
      for (let at = 0; at < times; at += 1, nowMs += 30) press(screen, key);
    },
    /** The plan has moved on; the screen looks at it. */
    show: (next: PlanView) => {
      view = next;
      for (const listener of listeners) listener();
    },
    type: (text: string) => screen.paste(text, SIZE),
    said: () => did.effects.flatMap((effect) => (effect.type === 'say' ? [effect.text] : [])),
  };
}
