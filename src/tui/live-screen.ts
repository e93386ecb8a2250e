import type { Secret } from '../base/secret.ts';
import type { Errand } from '../view/app/app-port.ts';
import type { Badge } from '../view/app/home.ts';
import type { LabChange } from '../view/app/lab-facts.ts';
import type { Facts, Need } from '../view/app/sources.ts';
import type { StartWish } from '../view/app/start-wish.ts';
import type { Layout, Page, Size } from './bands.ts';
import type { Stroke } from './keys.ts';
import type { Look } from './span.ts';

/** A screen by its name, with what it is about. Every screen can be opened from every other one. */
export type ScreenRequest =
  | { readonly name: 'board' }
  /** `situation` skips the first question, `instance` the second, `target` and `backup` those. */
  | {
      readonly name: 'start';
      readonly situation?: string;
      readonly instance?: string;
      readonly target?: string;
      /** Its id. */
      readonly backup?: string;
    }
  | { readonly name: 'runs' }
  | { readonly name: 'followups' }
  /** Several instances, of which each gets the same, one after the other. */
  | { readonly name: 'each'; readonly what: 'backup' | 'card'; readonly instances: readonly string[] }
  | { readonly name: 'watch'; readonly runId: string }
  | { readonly name: 'instance'; readonly instance: string }
  /** `addTo` only asks for the file with a key of this instance. */
  | { readonly name: 'keys'; readonly addTo?: string }
  | { readonly name: 'journal'; readonly stream?: string }
  | { readonly name: 'report'; readonly runId: string }
  | { readonly name: 'lab' };

/** A key of a screen: what the footer, the help and the palette show of it. */
export interface ShownKey {
  /** Names as `keyOf` gives them. */
  readonly keys: readonly string[];
  /** For the footer and the help: `up/down`. Empty where another key speaks for this one. */
  readonly shown: string;
  readonly label: string;
  /** Imperative, lower case, no stop. */
  readonly description: string;
  readonly inFooter: boolean;
  /** Why it does nothing now, in words; undefined where it works. */
  readonly disabled?: string | undefined;
}

/** The same with what the screen takes it for. */
export interface BoundKey<Intent extends string> extends ShownKey {
  readonly intent: Intent;
}

/** A key of one letter that the last row of the screen names. */
export function letterKey<Intent extends string>(
  letter: string,
  intent: Intent,
  label: string,
  description: string,
): BoundKey<Intent> {
  return { intent, keys: [letter], shown: letter, label, description, inFooter: true };
}

/** What has to happen in the world, or to the stack of screens, after a key. */
export type AppEffect =
  | { readonly type: 'open'; readonly screen: ScreenRequest }
  | { readonly type: 'back' }
  /** Ends the app, where no run is driven in it. */
  | { readonly type: 'quit' }
  /** Asks again for everything that is shown. */
  | { readonly type: 'refresh' }
  /** Puts a text into the clipboard of the terminal; `what` names it for the notice. */
  | { readonly type: 'copy'; readonly text: string; readonly what: string }
  | { readonly type: 'start'; readonly wish: StartWish }
  /** Begins one run after the other. */
  | { readonly type: 'start-each'; readonly wishes: readonly StartWish[] }
  | { readonly type: 'resume'; readonly runId: string }
  /** Writes the report of a run into a file, and says where. */
  | { readonly type: 'write-report'; readonly runId: string }
  /** Does something that is told of when it is done. */
  | { readonly type: 'errand'; readonly errand: Errand }
  /** Breaks or mends something in the lab that the config names, and says what came of it. */
  | { readonly type: 'lab'; readonly change: LabChange }
  /** Has a key of an instance taken from a file, or entered in a field, and says what came of it. */
  | { readonly type: 'add-key'; readonly instance: string; readonly file?: string }
  /** Asks again for everything that is shown, and for the passphrase of the key store. */
  | { readonly type: 'unlock' }
  /** Hides names and ids on every screen, or shows them again. */
  | { readonly type: 'present' }
  /** A line that goes away with the next key, or with an empty one. */
  | { readonly type: 'say'; readonly text: string }
  /** What a field was there for. */
  | { readonly type: 'entered'; readonly secret: Secret }
  /** Closes this screen, and presses a key on the one beneath. */
  | { readonly type: 'press'; readonly key: string }
  /** Closes this screen, and does something else. */
  | { readonly type: 'instead'; readonly effect: AppEffect };

/** What a screen may look at besides its own state. */
export interface Around {
  readonly facts: Facts;
  readonly now: Date;
  /** Of the body: the terminal without header and footer. */
  readonly size: Size;
}

/** What came from the keyboard. */
export type Input<Intent extends string> =
  | { readonly type: 'intent'; readonly intent: Intent; readonly page: Page }
  /** What a key types, or a paste; only while `isTyping`. */
  | { readonly type: 'text'; readonly text: string };

/**
 * A screen as pure functions: its state, what a key does to it, and its lines. It knows neither the terminal
 * nor the clock, so it is tested by tables.
 */
export interface ScreenModule<State, Intent extends string> {
  readonly init: State;
  /** The name of what is shown, for the header: an instance, or nothing. */
  subject(state: State): string;
  title(state: State): string;
  /** Undefined as long as it is not known: nothing is claimed then. */
  badge(state: State, around: Around): Badge | undefined;
  /** Whether letters are text now, and no keys. */
  isTyping(state: State): boolean;
  /** The keys that mean something now, the most needed first, those that are disabled with their reason. */
  keys(state: State, around: Around): readonly BoundKey<Intent>[];
  needs(state: State, around: Around): readonly Need[];
  /** The next state, and what is to happen. Pure. */
  reduce(state: State, input: Input<Intent>, around: Around): readonly [State, ...AppEffect[]];
  /**
   * The state once it is on the screen, where that changes it: what was shown may then be meant by the next
   * key. Pure.
   */
  shown?(state: State, around: Around): State;
  /** The body in exactly `around.size`. */
  layOut(state: State, around: Around, look: Look): Layout;
}

/** A screen that is on the stack, with a life of its own. */
export interface LiveScreen {
  /** What opens it again; undefined for what is only shown once: a run, a notice. */
  readonly request: ScreenRequest | undefined;
  /** In one or two words, for the way back. */
  title(): string;
  subscribe(listener: () => void): () => void;
  isTyping(): boolean;
  keys(): readonly ShownKey[];
  needs(): readonly Need[];
  layOut(size: Size, look: Look): Layout;
  /** False where the key means nothing here. */
  press(stroke: Stroke | undefined, size: Size): boolean;
  paste(text: string, size: Size): void;
  /** Lets go of what it holds: a run is left, resumable, with `why` in its journal. */
  leave(why?: string): Promise<void>;
}
