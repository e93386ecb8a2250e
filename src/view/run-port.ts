import type { Answer } from '../../machines/parts/question.ts';
import { show } from '../base/text.ts';
import type { RunView } from './run-view.ts';

export type { Answer };

/** How a run left this process. `exitCode` follows the command line's table. */
export interface RunEnd {
  readonly exitCode: number;
  /**
   * `detached`: still open, resumable; `paused`: waits for credentials; `ended`: its machine is in a final
   * state.
   */
  readonly how: 'ended' | 'detached' | 'paused';
}

/** A live run, as renderers see it: look, listen, answer, leave. */
export interface RunPort {
  view(): RunView;
  /**
   * The fallback script: the rest of the run as a shell script that works without this program. Printable.
   */
  fallback(): string;
  /**
   * Calls back whenever `view()` would differ (not for the mere passing of time). Gives the unsubscribe
   * function.
   */
  subscribe(listener: () => void): () => void;
  /**
   * Resolves when the answer is durable; rejects with a LifeboatError (wrong name, too short, too late) and
   * changes nothing.
   */
  answer(answer: Answer): Promise<void>;
  /** Tries again what waits for credentials; a no-op when nothing does. */
  wake(): void;
  /**
   * Leaves the run as it is, resumable. Resolves when nothing more will be written. `why` is for its journal;
   * of several reasons the first stands, and without one the operator left.
   */
  detach(why?: string): Promise<void>;
  readonly ended: Promise<RunEnd>;
}

/** Why a run was left, in the words of its journal. The first reason stands. */
export const LEFT = {
  byOperator: 'the operator left',
  inputEnded: 'the input of the terminal ended',
  terminalLost: 'the terminal was lost',
  screenBroke: 'the screen broke',
} as const;

/** The same for a signal: it was not a key of the screen. */
export function leftBySignal(signal: NodeJS.Signals): string {
  return `the process received ${signal}`;
}

/** A run that was left, in one line: how to resume it, or why it cannot be resumed. */
export function afterLeaving({ runId, gone }: Pick<RunView, 'runId' | 'gone'>): string {
  return gone === undefined ? `resume with: lifeboat resume ${show(runId)}` : show(gone, GONE_LIMIT);
}

/** It names a folder. */
const GONE_LIMIT = 1_000;
