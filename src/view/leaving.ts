import { show } from '../base/text.ts';
import type { RunView } from './run-view.ts';

/** Why a run was left, in the words of its journal. The first reason stands. */
export const LEFT = {
  byOperator: 'the operator left',
  inputEnded: 'the input of the terminal ended',
  terminalLost: 'the terminal was lost',
  screenBroke: 'the screen broke',
} as const;

/** The same for a signal: whoever sent it, it was not a key of the screen. */
export function leftBySignal(signal: NodeJS.Signals): string {
  return `the process received ${signal}`;
}

/** What is true of a run once it was left, in one line: how to carry it on, or why nobody can. */
export function afterLeaving({ runId, gone }: Pick<RunView, 'runId' | 'gone'>): string {
  return gone === undefined ? `resume with: lifeboat resume ${show(runId)}` : show(gone, GONE_LIMIT);
}

/** It names a folder. */
const GONE_LIMIT = 1_000;
