import { questionKey } from '../view/question-words.ts';
import type { RunView } from '../view/run-view.ts';
import { BELL, notified, titled } from './osc.ts';

/** Milliseconds without a key after which nobody is taken to be at the keyboard. */
const AWAY_MS = 5_000;

export interface AttentionOptions {
  readonly write: (bytes: string) => void;
  /** Milliseconds that only go forward. */
  readonly monotonic: () => number;
  /** Whether the bell may ring and the desktop be notified; the title is set anyway. */
  readonly isLoud: boolean;
}

/** What the app says besides what it draws: the title of the window, a bell and a notification. */
export interface Attention {
  /** Somebody is at the keyboard. */
  typed(): void;
  /** The title of the window is no longer the one that was set. */
  forget(): void;
  /**
   * What is shown now: a screen by its title, and the run that is driven here; `hide` makes a text fit to be
   * seen. The bell rings when its
   * question has come to wait, or it has ended, and nobody is typing: once for each.
   */
  look(title: string, run: RunView | undefined, hide: (text: string) => string): void;
}

export function createAttention({ write, monotonic, isLoud }: AttentionOptions): Attention {
  let typedAt = monotonic();
  let lastTitle: string | undefined;
  let lastWait = '';
  return {
    typed() {
      typedAt = monotonic();
    },
    forget() {
      lastTitle = undefined;
    },
    look(title, run, hide) {
      const text = hide(run === undefined ? `lifeboat: ${title}` : titleOf(run));
      if (text !== lastTitle) write(titled(text));
      lastTitle = text;
      const wait = run === undefined ? '' : waitOf(run);
      const isNew = wait !== '' && wait !== lastWait;
      lastWait = wait;
      if (isNew && isLoud && monotonic() - typedAt >= AWAY_MS) write(`${BELL}${notified(text)}`);
    },
  };
}

/** What waits for a person, as something that changes with it; empty where nothing does. */
function waitOf(run: RunView): string {
  if (run.outcome !== undefined) return 'over';
  if (run.paused) return 'credentials';
  return questionKey(run.question);
}

function titleOf(run: RunView): string {
  return `${stateOf(run)} - ${run.mode} ${run.instance} - ${run.runbook}`;
}

function stateOf({ outcome, paused, question }: RunView): string {
  if (outcome !== undefined) return 'over';
  if (paused) return 'waits for credentials';
  return question === undefined ? 'running' : 'waits for you';
}
