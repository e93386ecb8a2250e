import type { QuestionOption as MachineOption } from '../../machines/parts/question.ts';
import { formatSeconds, readable } from '../base/format.ts';
import type { QuestionView, RunView } from './run-view.ts';
import { viewOption } from './view-question.ts';

/** That something takes longer than it should, as the runner knows it. Seconds. */
export interface OverdueFacts {
  /** How long it has gone on by now, whoever waited for it. */
  readonly seconds: number;
  readonly limitSeconds: number;
  readonly basis: 'history' | 'objective' | 'default';
  readonly detail: string;
}

/**
 * The loud line; `mayLeave` where the run can be carried on later. It changes only when another limit is
 * passed, so that nobody reads the same twice.
 */
export function overdueBanner(
  title: string,
  status: string | undefined,
  overdue: OverdueFacts,
  mayLeave: boolean,
): RunView['banner'] {
  // How many are before it in the queue no interface tells.
  const state = status === 'queued' ? ', queued' : '';
  return {
    tone: 'warn',
    text: readable(
      `${title}${state} for more than ${formatSeconds(overdue.limitSeconds)}: ${overdue.detail}`,
    ),
    hints: [
      mayLeave
        ? 'waiting is safe, and so is leaving: the service goes on by itself, and `lifeboat resume` looks again'
        : 'waiting is safe',
      'the dashboard may show what holds it up',
    ],
  };
}

/** What may be done beside the waiting; nothing where the machine takes nothing. */
export function besideQuestion(options: readonly MachineOption[]): QuestionView | undefined {
  if (options.length === 0) return undefined;
  const prompt = 'it takes longer than it should: keep waiting, or';
  return { kind: 'choice', prompt, beside: true, options: options.map(viewOption) };
}
