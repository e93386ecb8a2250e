import type { Answer } from '../../machines/parts/question.ts';
import { show } from '../base/text.ts';
import type { RunView } from './run-view.ts';

export type { Answer };

/** `exitCode` follows the command line's table. */
export interface RunEnd {
  readonly exitCode: number;
  /** `detached`: open, resumable; `paused`: waits for credentials; `ended`: in a final state. */
  readonly how: 'ended' | 'detached' | 'paused';
}

/** A live run, for renderers. */
export interface RunPort {
  view(): RunView;
  /** The rest of the run as a shell script that works without this program. Printable. */
  fallback(): string;
  /** Called whenever `view()` would differ, but not when only time passes. Returns the unsubscribe. */
  subscribe(listener: () => void): () => void;
  /**
   * Resolves when the answer is durable; rejects with a LifeboatError (wrong name, too short, too late),
   * changing nothing.
   */
  answer(answer: Answer): Promise<void>;
  /** Tries again if the run waits for credentials; otherwise a no-op. */
  wake(): void;
  /**
   * Leaves the run resumable. Resolves when nothing more will be written. `why` is for its journal: the first
   * reason counts, and without one the operator left.
   */
  detach(why?: string): Promise<void>;
  readonly ended: Promise<RunEnd>;
}

/** In the words of the journal. The first reason counts. */
export const LEFT = {
  byOperator: 'the operator left',
  inputEnded: 'the input of the terminal ended',
  terminalLost: 'the terminal was lost',
  screenBroke: 'the screen broke',
} as const;

export function leftBySignal(signal: NodeJS.Signals): string {
  return `the process received ${signal}`;
}

/** One line: how to resume the run, or why it cannot be resumed. */
export function afterLeaving({ runId, gone }: Pick<RunView, 'runId' | 'gone'>): string {
  return gone === undefined ? `resume with: lifeboat resume ${show(runId)}` : show(gone, GONE_LIMIT);
}

/** The text names a folder. */
const GONE_LIMIT = 1_000;
