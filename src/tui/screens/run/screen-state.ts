import type { Answer } from '../../../view/run-port.ts';
import type { RunView } from '../../../view/run-view.ts';
import type { Page } from '../../bands.ts';
import type { AppEffect } from '../../live-screen.ts';
import type { Field } from '../../parts/field.ts';
import type { Intent } from './key-binding.ts';
import type { QuestionState } from './question-state.ts';

/** Everything the screen depends on, apart from its size. */
export interface UiState {
  readonly view: RunView;
  /** `lead` asks whether to stop the run for the way that leads on. */
  readonly overlay: 'none' | 'help' | 'leave' | 'lead' | 'fallback' | 'log' | 'step';
  /** The fallback script, while it is shown. */
  readonly fallback?: string;
  readonly leaveRow: number;
  /** What the entries of the log have to hold while it is shown, and whether that is being typed. */
  readonly filter: Field;
  readonly isFiltering: boolean;
  /** The step of the rail that is looked at. */
  readonly stepRow: number;
  /** First row of the text that is shown. */
  readonly scroll: number;
  readonly question?: QuestionState;
  /** Reasons, proofs and words that were given in this run, the newest first. No name and no secret. */
  readonly given: readonly string[];
  readonly keyboard: Keyboard;
  /** Whether the app lays a palette over the run. */
  readonly hasPalette?: boolean | undefined;
}

/** The last time at which a key was read, on the clock that stamps the actions. */
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

/** A key as it was read, in milliseconds of the clock that stamps the actions. */
export interface KeyRead {
  /** Its name, as `keyOf` gives it. */
  readonly key: string;
  /** It came several times in one piece, as a key that is held down does after a delay. */
  readonly isHeld?: boolean;
  readonly now: number;
  /** Before this time it was not pressed; it may have waited from then on. Default: `now`. */
  readonly since?: number;
}

export type Action =
  | { readonly type: 'view'; readonly view: RunView; readonly now: number }
  | (KeyRead & { readonly type: 'intent'; readonly intent: Intent; readonly page: Page })
  | (KeyRead & { readonly type: 'text'; readonly text: string })
  /** A key that means nothing here. It counts as one all the same: it may be held down. */
  | (KeyRead & { readonly type: 'key' })
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
  /** `lead` follows once the answer has ended the run. */
  | { readonly type: 'answer'; readonly answer: Answer; readonly lead?: AppEffect }
  /** The screen of a run that has ended is closed for what leads on. */
  | { readonly type: 'lead'; readonly effect: AppEffect }
  /** What a field holds is to be read as a moment; a `moment` action brings the result. */
  | { readonly type: 'read-moment'; readonly text: string }
  /** The fallback script is to be fetched; a `fallback` action brings it. */
  | { readonly type: 'fallback' }
  | { readonly type: 'wake' }
  /** What the app is to do, whatever becomes of the run. */
  | { readonly type: 'app'; readonly effect: AppEffect }
  | { readonly type: 'leave' }
  | { readonly type: 'suspend' }
  | { readonly type: 'close' };

export type Step = readonly [UiState, Effect?];
