import type { Secret } from '../base/secret.ts';
import type { Errand } from '../view/app/app-port.ts';
import type { LabChange } from '../view/app/lab-facts.ts';
import type { Badge, Facts, Need } from '../view/app/sources.ts';
import type { PlanWish, StartWish } from '../view/app/start-wish.ts';
import type { Layout, Page, Size } from './bands.ts';
import type { Stroke } from './keys.ts';
import type { Look } from './span.ts';

/** A screen by name, with its subject. Every screen can be opened from every other one. */
export type ScreenRequest =
  | { readonly name: 'board' }
  /** `situation`, `instance`, `target` and `backup` answer those questions in advance. */
  | {
      readonly name: 'start';
      readonly situation?: string;
      readonly instance?: string;
      readonly target?: string;
      readonly backup?: string;
    }
  | { readonly name: 'runs' }
  | { readonly name: 'followups' }
  /** The same run on several instances, one after the other. */
  | { readonly name: 'each'; readonly what: 'backup' | 'card'; readonly instances: readonly string[] }
  | { readonly name: 'watch'; readonly runId: string }
  | { readonly name: 'instance'; readonly instance: string }
  /** With `addTo`, only the field for the key file of this instance. */
  | { readonly name: 'keys'; readonly addTo?: string }
  | { readonly name: 'journal'; readonly stream?: string }
  | { readonly name: 'report'; readonly runId: string }
  | { readonly name: 'lab' };

export interface ShownKey {
  /** Key names as `keyOf` returns them. */
  readonly keys: readonly string[];
  /** How footer and help show it: `up/down`. Empty if another key covers it. */
  readonly shown: string;
  readonly label: string;
  /** Imperative, lower case, no full stop. */
  readonly description: string;
  readonly inFooter: boolean;
  /** Why it does nothing now; undefined if it works. */
  readonly disabled?: string | undefined;
}

export interface BoundKey<Intent extends string> extends ShownKey {
  readonly intent: Intent;
}

const SHOWN_AS: Readonly<Record<string, string>> = { enter: 'Enter', escape: 'Esc' };

/** A key that the footer shows, or several that do the same: it shows the first of them. */
export function footerKey<Intent extends string>(
  keys: string | readonly [string, ...string[]],
  intent: Intent,
  label: string,
  description: string,
): BoundKey<Intent> {
  const all = typeof keys === 'string' ? ([keys] as const) : keys;
  return { intent, keys: all, shown: SHOWN_AS[all[0]] ?? all[0], label, description, inFooter: true };
}

export type AppEffect =
  | { readonly type: 'open'; readonly screen: ScreenRequest }
  | { readonly type: 'back' }
  /** Ends the app, unless it drives a run. */
  | { readonly type: 'quit' }
  | { readonly type: 'refresh' }
  /** Copies a text to the clipboard; `what` names it in the message. */
  | { readonly type: 'copy'; readonly text: string; readonly what: string }
  | { readonly type: 'start'; readonly wish: StartWish }
  | { readonly type: 'start-each'; readonly wishes: readonly StartWish[] }
  | { readonly type: 'start-plan'; readonly wish: PlanWish }
  | { readonly type: 'resume'; readonly runId: string }
  | { readonly type: 'write-report'; readonly runId: string }
  /** Starts a task that reports its end. */
  | { readonly type: 'errand'; readonly errand: Errand }
  /** Changes the lab that the config names, and reports the result. */
  | { readonly type: 'lab'; readonly change: LabChange }
  /** Stores a key of an instance, from a file or from a field, and reports the result. */
  | { readonly type: 'add-key'; readonly instance: string; readonly file?: string }
  /** Loads everything on the screen again, and asks for the passphrase of the key store. */
  | { readonly type: 'unlock' }
  | { readonly type: 'present' }
  /** Shows a line until the next key; an empty one clears it. */
  | { readonly type: 'say'; readonly text: string }
  /** The result of a secret field. */
  | { readonly type: 'entered'; readonly secret: Secret }
  /** Closes this screen and sends a key to the one beneath. */
  | { readonly type: 'press'; readonly key: string }
  /** Closes this screen and does something else. */
  | { readonly type: 'instead'; readonly effect: AppEffect };

export interface Around {
  readonly facts: Facts;
  readonly now: Date;
  /** Size of the body: the terminal without header and footer. */
  readonly size: Size;
}

export type Input<Intent extends string> =
  | { readonly type: 'intent'; readonly intent: Intent; readonly page: Page }
  /** Typed or pasted text; only while `isTyping`. */
  | { readonly type: 'text'; readonly text: string };

/** A screen as pure functions, without terminal or clock, so that it can be tested by tables. */
export interface ScreenModule<State, Intent extends string, Effect = AppEffect> {
  readonly init: State;
  /** The subject in the header: an instance, or empty. */
  subject(state: State): string;
  title(state: State): string;
  /** Undefined until it is known, so that nothing wrong is claimed. */
  badge(state: State, around: Around): Badge | undefined;
  /** Whether letters are text instead of keys. */
  isTyping(state: State): boolean;
  /** The keys that work now, the most needed first; disabled ones carry a reason. */
  keys(state: State, around: Around): readonly BoundKey<Intent>[];
  needs(state: State, around: Around): readonly Need[];
  /** The next state and its effects. Pure. */
  reduce(state: State, input: Input<Intent>, around: Around): readonly [State, ...Effect[]];
  /** The state once it was drawn, if that changes it: the next key may refer to what was shown. Pure. */
  shown?(state: State, around: Around): State;
  /** The body in exactly `around.size`. */
  layOut(state: State, around: Around, look: Look): Layout;
}

export interface LiveScreen {
  /** The request that opens it again; undefined for what is shown once: a run, a notice. */
  readonly request: ScreenRequest | undefined;
  /** One or two words, for the way back. */
  title(): string;
  subscribe(listener: () => void): () => void;
  isTyping(): boolean;
  keys(): readonly ShownKey[];
  needs(): readonly Need[];
  layOut(size: Size, look: Look): Layout;
  /** False if the key means nothing here. */
  press(stroke: Stroke | undefined, size: Size): boolean;
  paste(text: string, size: Size): void;
  /** Releases what it holds: a run is left, resumable, with `why` in its journal. */
  leave(why?: string): Promise<void>;
}
