import type { LifeboatError } from '../../src/base/errors.ts';
import type { Answer, RunEnd, RunPort } from '../../src/view/run-port.ts';
import type { RunView } from '../../src/view/run-view.ts';

/** A run that shows what a test puts into it and remembers what was asked of it. */
export interface FakeRun extends RunPort {
  readonly answers: Answer[];
  readonly calls: string[];
  /** Why it was left, each time. */
  readonly reasons: (string | undefined)[];
  show(view: RunView): void;
  /** The next answer is refused with this. */
  refuse(error: LifeboatError): void;
  finish(end: RunEnd): void;
}

/** What the fake run has as its fallback script. */
export const FALLBACK = [
  '#!/bin/sh',
  '# kept at /srv/lifeboat/fallback/run.sh',
  '',
  'read -r TOKEN',
  'curl -fsS -X POST -H "Authorization: bearer $TOKEN" -H \'Content-Type: application/json\' -d \'{"backup_id": 41,  "why": "dr"}\' https://dashboard.example.com/v1/instances/4a1f77e0/restore',
  ...Array.from({ length: 60 }, (_, at) => `echo "step ${at + 1}"`),
].join('\n');

export function createFakeRun(
  first: RunView,
  onAnswer: (answer: Answer, run: FakeRun) => void = () => {},
): FakeRun {
  const listeners = new Set<() => void>();
  const ended = Promise.withResolvers<RunEnd>();
  let view = first;
  let refusal: LifeboatError | undefined;
  const run: FakeRun = {
    answers: [],
    calls: [],
    reasons: [],
    ended: ended.promise,
    view: () => ({ ...view }),
    fallback: () => FALLBACK,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    answer: async (answer) => {
      const error = refusal;
      refusal = undefined;
      if (error !== undefined) throw error;
      run.answers.push(answer);
      onAnswer(answer, run);
    },
    wake: () => void run.calls.push('wake'),
    detach: async (why) => {
      run.calls.push('detach');
      run.reasons.push(why);
      ended.resolve({ how: 'detached', exitCode: 130 });
    },
    show: (next) => {
      view = next;
      for (const listener of listeners) listener();
    },
    refuse: (error) => {
      refusal = error;
    },
    finish: (end) => ended.resolve(end),
  };
  return run;
}
