import type { Secret } from '../base/secret.ts';
import type { Errand } from '../view/app/app-port.ts';
import type { LabChange } from '../view/app/lab-facts.ts';
import type { Badge, Facts, Need } from '../view/app/sources.ts';
import type { PlanWish, StartWish } from '../view/app/start-wish.ts';
import type { Layout, Page, Size } from './bands.ts';
import type { Stroke } from './keys.ts';
import type { Look } from './span.ts';

/** With its subject. Every screen can be opened from every other one. */
export type ScreenRequest =
  | { readonly name: 'board' }
  /** The others answer these questions in advance. */
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
  /** `addTo`: only the field for this instance's key file. */
  | { readonly name: 'keys'; readonly addTo?: string }
  | { readonly name: 'journal'; readonly stream?: string }
  | { readonly name: 'report'; readonly runId: string }
  | { readonly name: 'lab' };

export interface ShownKey {
  /** As `keyOf` returns them. */
  readonly keys: readonly string[];
  /** In footer and help: `up/down`. Empty if another key covers it. */
  readonly shown: string;
  readonly label: string;
  /** Imperative, lower case, no full stop. */
  readonly description: string;
  readonly inFooter: boolean;
  /** Undefined if it works. */
  readonly disabled?: string | undefined;
}

export interface BoundKey<Intent extends string> extends ShownKey {
  readonly intent: Intent;
}

const SHOWN_AS: Readonly<Record<string, string>> = { enter: 'Enter', escape: 'Esc' };

/** The footer shows the first of several that do the same. */
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
  /** Unless the app drives a run. */
  | { readonly type: 'quit' }
  | { readonly type: 'refresh' }
  /** To the clipboard; `what` names it in the message. */
  | { readonly type: 'copy'; readonly text: string; readonly what: string }
  | { readonly type: 'start'; readonly wish: StartWish }
  | { readonly type: 'start-each'; readonly wishes: readonly StartWish[] }
  | { readonly type: 'start-plan'; readonly wish: PlanWish }
  | { readonly type: 'resume'; readonly runId: string }
  | { readonly type: 'write-report'; readonly runId: string }
  /** Reports its end. */
  | { readonly type: 'errand'; readonly errand: Errand }
  /** Of the lab that the config names; reports the result. */
  | { readonly type: 'lab'; readonly change: LabChange }
  /** From a file or a field; reports the result. */
  | { readonly type: 'add-key'; readonly instance: string; readonly file?: string }
  /** Refreshes, and asks for the passphrase of the key store. */
  | { readonly type: 'unlock' }
  | { readonly type: 'present' }
  /** Until the next key; an empty one clears it. */
  | { readonly type: 'say'; readonly text: string }
  /** Of a secret field. */
  | { readonly type: 'entered'; readonly secret: Secret }
  /** Closes this screen first; the one beneath gets the key. */
  | { readonly type: 'press'; readonly key: string }
  /** Closes this screen first. */
  | { readonly type: 'instead'; readonly effect: AppEffect };

export interface Around {
  readonly facts: Facts;
  readonly now: Date;
  /** Of the body: without header and footer. */
  readonly size: Size;
}

export type Input<Intent extends string> =
  | { readonly type: 'intent'; readonly intent: Intent; readonly page: Page }
  /** Typed or pasted, while `isTyping`. */
  | { readonly type: 'text'; readonly text: string };

/** Pure functions without access to terminal or clock, to be tested by tables. */
export interface ScreenModule<State, Intent extends string, Effect = AppEffect> {
  readonly init: State;
  /** In the header: an instance, or empty. */
  subject(state: State): string;
  title(state: State): string;
  /** Undefined until it is known, so that nothing wrong is claimed. */
  badge(state: State, around: Around): Badge | undefined;
  /** Letters are text instead of keys. */
  isTyping(state: State): boolean;
  /** The most needed first; disabled ones carry a reason. */
  keys(state: State, around: Around): readonly BoundKey<Intent>[];
  needs(state: State, around: Around): readonly Need[];
  /** Pure. */
  reduce(state: State, input: Input<Intent>, around: Around): readonly [State, ...Effect[]];
  /** Once drawn: the next key may refer to what was shown. Pure. */
  shown?(state: State, around: Around): State;
  /** Exactly `around.size`. */
  layOut(state: State, around: Around, look: Look): Layout;
}

export interface LiveScreen {
  /** Undefined for what is shown once: a run, a notice. */
  readonly request: ScreenRequest | undefined;
  /** One or two words. */
  title(): string;
  subscribe(listener: () => void): () => void;
  isTyping(): boolean;
  keys(): readonly ShownKey[];
  needs(): readonly Need[];
  layOut(size: Size, look: Look): Layout;
  /** False if the key means nothing here. */
  press(stroke: Stroke | undefined, size: Size): boolean;
  paste(text: string, size: Size): void;
  /** A run is left, resumable, with `why` in its journal. */
  leave(why?: string): Promise<void>;
}
