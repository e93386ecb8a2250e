import { show } from '../base/text.ts';
import { questionKey } from '../view/question-words.ts';
import type { RunView } from '../view/run-view.ts';

/** Milliseconds without a key after which the operator counts as away. */
const AWAY_MS = 5_000;

interface AttentionOptions {
  readonly write: (bytes: string) => void;
  /** Monotonic time in milliseconds. */
  readonly monotonic: () => number;
  /** Whether the bell may ring and desktop notifications are sent; the title is set in any case. */
  readonly isLoud: boolean;
}

interface Attention {
  /** Reports a key press: the operator is present. */
  typed(): void;
  /** The window title was changed by another program. */
  forget(): void;
  /**
   * Reports the title of the current screen and the run that is driven here; `hide` masks names. The bell
   * rings once when the run's question starts to wait, and once when it ends, if the operator is away.
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

/** Identifies what waits for the operator; empty if nothing does. */
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

/*
 * What a terminal does besides drawing, by the sequences of xterm ("XTerm Control Sequences", Operating
 * System Commands) and of iTerm2 (OSC 9). A terminal that does not know one ignores it.
 */

/** Saves the window title on the terminal's stack, and restores it. */
export const SAVE_TITLE = '\u001b[22;2t';
export const RESTORE_TITLE = '\u001b[23;2t';

const BELL = '\u0007';

export function titled(text: string): string {
  return `\u001b]2;${clean(text)}\u0007`;
}

export function notified(text: string): string {
  return `\u001b]9;${clean(text)}\u0007`;
}

/** xterm's limit of Base64 digits in one sequence. */
const MAX_COPIED = 74_994;

/** Copies a text to the clipboard and returns the message about it, also if it is too long to copy. */
export function copyTo(write: (bytes: string) => void, text: string, what: string): string {
  const digits = Buffer.from(text).toString('base64');
  if (digits.length > MAX_COPIED) return `not copied: ${what} is longer than a terminal takes`;
  write(`\u001b]52;c;${digits}\u0007`);
  return `copied ${what}`;
}

const LONGEST = 120;

/** Removes what would end the sequence or begin another one. */
function clean(text: string): string {
  return show(text, LONGEST).replaceAll(/\p{Cc}/gu, ' ');
}
