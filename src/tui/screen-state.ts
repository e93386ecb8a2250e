import type { RunAnswer } from '../view/run-port.ts';
import type { RunView } from '../view/run-view.ts';
import type { Intent } from './key-binding.ts';
import type { QuestionState } from './question-state.ts';

/** Everything the screen depends on, apart from its size. */
export interface UiState {
  readonly view: RunView;
  readonly overlay: 'none' | 'help' | 'leave' | 'fallback';
  /** The fallback script, while it is shown. */
  readonly fallback?: string;
  readonly leaveRow: number;
  readonly logGrown: boolean;
  /** First row of the text that is shown. */
  readonly scroll: number;
  readonly question?: QuestionState;
  readonly keyboard: Keyboard;
}

/** One press of a key, on the clock that stamps the actions. */
export interface Press {
  readonly key: string;
  readonly at: number;
}

/**
 * What came from the keyboard, as far as it tells a key that was meant for what is shown from one that was
 * not.
 */
export interface Keyboard {
  /** The last key of all. */
  readonly last?: Press;
  /** Where nothing was answered yet to what is shown: since when it stands there and no key came. */
  readonly quietSince?: number;
  /** The last key before it was shown, until another one comes. */
  readonly before?: Press;
}

/** How far the text on the screen can be scrolled; known to the one who has laid it out. */
export interface Page {
  readonly height: number;
  readonly last: number;
}

export type Action =
  | { readonly type: 'view'; readonly view: RunView; readonly now: number }
  | {
      readonly type: 'intent';
      readonly intent: Intent;
      /** The key that means it, as `keyOf` names it. */
      readonly key: string;
      readonly page: Page;
      readonly now: number;
    }
  | { readonly type: 'text'; readonly text: string; readonly key: string; readonly now: number }
  /** A key that means nothing here. It counts as one all the same: it may be held down. */
  | { readonly type: 'key'; readonly key: string; readonly now: number }
  | { readonly type: 'answered'; readonly now: number }
  | { readonly type: 'fallback'; readonly text: string; readonly now: number }
  | {
      readonly type: 'moment';
      /** What was read. */
      readonly text: string;
      readonly moment: { readonly time: Date } | { readonly problem: string };
      readonly now: number;
    }
  | {
      readonly type: 'rejected';
      readonly text: string;
      readonly hints: readonly string[];
      readonly now: number;
    };

/** What has to happen in the world after an action. */
export type Effect =
  | { readonly type: 'answer'; readonly answer: RunAnswer }
  /** What a field holds is to be read as a moment; a `moment` action brings the result. */
  | { readonly type: 'read-moment'; readonly text: string }
  /** The fallback script is to be fetched; a `fallback` action brings it. */
  | { readonly type: 'fallback' }
  | { readonly type: 'wake' }
  | { readonly type: 'leave' }
  | { readonly type: 'suspend' }
  | { readonly type: 'close' };

export type Step = readonly [UiState, Effect?];
