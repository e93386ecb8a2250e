import type { Secret } from '../../base/secret.ts';
import type { PlanPort } from '../plan/plan-view.ts';
import type { RunPort } from '../run-port.ts';
import type { LabChange } from './lab-facts.ts';
import type { Loaders } from './sources.ts';
import type { PlanWish, StartWish } from './start-wish.ts';

/** The app's actions outside of the screen; none of them draws. */
export interface AppPort {
  readonly loaders: Loaders;
  /**
   * Begins a run and drives it until it ends or is left; `show` gets the run and resolves then. Returns lines
   * to show, mostly warnings. Rejects with a LifeboatError if nothing was begun or the run broke.
   */
  start(wish: StartWish, show: ShowRun): Promise<readonly string[]>;
  /** The same for the run of a plan, shown by `OnScreen.showPlan`. */
  startPlan(wish: PlanWish): Promise<readonly string[]>;
  /** The same for an open run. */
  resume(runId: string, show: ShowRun): Promise<readonly string[]>;
  /** A run that another process drives; it cannot be answered here. */
  watch(runId: string): Promise<WatchedPort>;
  /** Writes the run's HTML report to a new file in the current folder and returns its name. */
  writeReport(runId: string): Promise<string>;
  /** Carries out an errand and returns its end. Rejects with the reason if it failed; `leaving` aborts it. */
  carryOut(errand: Errand, leaving: AbortSignal): Promise<ErrandEnd>;
  /** Returns the lab's new state in words. Rejects if the config names no lab. */
  changeLab(change: LabChange): Promise<string>;
  /**
   * Stores a key from a file or a hidden field, and returns a message. Rejects if nothing was stored. `file`
   * is a path as typed: a leading `~` is the user's home.
   */
  addKey(instance: string, file?: string): Promise<string>;
  /** The next access to a locked key store asks for the passphrase again, even if it was declined. */
  unlock(): void;
  /** A shell on the normal terminal, with this home and config in its environment. Resolves at its end. */
  shell(): Promise<void>;
}

/** By the screen that shows it. End it with `detach` or `leave`. */
export type WatchedPort =
  | { readonly of: 'run'; readonly port: RunPort }
  | { readonly of: 'plan'; readonly port: PlanPort };

/** Asked for in a field over the screen. Texts are printable. */
export interface AskedSecret {
  readonly prompt: string;
  /** Asked a second time, and compared. */
  readonly twice?: boolean | undefined;
  /** In characters. */
  readonly least?: number | undefined;
  /** Why the previous entry was not accepted. */
  readonly refused?: string | undefined;
  /** The operator did not ask for the field, so it appears only once typing has paused. */
  readonly isUnasked?: boolean | undefined;
}

/** For a command that runs beneath the screen. */
export interface OnScreen {
  /** Rejects with `input.left` if the field is left. */
  enter(asked: AskedSecret): Promise<Secret>;
  /** Shows a line until the next key; an empty one clears it. Printable. */
  say(text: string): void;
  /** Resolves once the run was left. */
  showPlan(port: PlanPort): Promise<void>;
}

export type ShowRun = (port: RunPort) => Promise<Awaited<RunPort['ended']>>;

/** A task of the app that reports its end, like the command of the same name. */
export type Errand =
  /** `lifeboat audit export`: the signed bundle of a run, into a new file in the current folder. */
  | { readonly do: 'export'; readonly runId: string }
  /** `lifeboat backups download`: a backup unchanged, into a new file in the current folder. */
  | { readonly do: 'download'; readonly instance: string; readonly id: number }
  /** Reads a backup to its last byte, as `lifeboat verify -` does; keeps nothing. */
  | { readonly do: 'verify'; readonly instance: string; readonly id: number }
  /** `lifeboat followups run`. `id` as it is listed, after its run or instance. */
  | { readonly do: 'follow-up'; readonly id: string }
  /** `lifeboat followups done` or `skip`. */
  | {
      readonly do: 'close-follow-up';
      readonly id: string;
      readonly how: 'done' | 'skip';
      readonly text: string;
    };

/** `text` is one line. Printable. */
export interface ErrandEnd {
  readonly text: string;
  readonly lines: readonly string[];
  readonly hints: readonly string[];
}

/** The title of the end, and the line shown until then. */
export function errandWords(errand: Errand): { readonly title: string; readonly meanwhile: string } {
  switch (errand.do) {
    case 'export':
      return { title: 'the bundle', meanwhile: `checking the journal and writing the bundle` };
    case 'download':
      return { title: `backup ${errand.id}`, meanwhile: `downloading backup ${errand.id}` };
    case 'verify':
      return {
        title: `backup ${errand.id}`,
        meanwhile: `reading backup ${errand.id} to its last byte; no proof of it goes on record`,
      };
    case 'follow-up':
      return { title: 'the follow-up', meanwhile: 'having the follow-up done' };
    case 'close-follow-up':
      return { title: 'the follow-up', meanwhile: 'closing the follow-up' };
  }
}

/** The passphrase was not entered, or is wrong. */
export function wantsPassphrase(code: string): boolean {
  return WANTING.has(code);
}

const WANTING: ReadonlySet<string> = new Set([
  'keys.no-passphrase',
  'keys.wrong-passphrase',
  // The passphrase field was left.
  'input.left',
]);
