import type { Secret } from '../../base/secret.ts';
import type { RunPort } from '../run-port.ts';
import type { Errand, ErrandEnd } from './errand.ts';
import type { LabChange } from './lab-facts.ts';
import type { Loaders } from './sources.ts';
import type { StartWish } from './start-wish.ts';

/** What the app asks of the world. Nothing here draws. */
export interface AppPort {
  readonly loaders: Loaders;
  /**
   * Begins a run and drives it until it ends or is left; `show` gets it and resolves when it is. Gives the
   * lines that it said beside the screen, warnings most of all. Rejects with a LifeboatError where nothing
   * was begun, or where the run broke.
   */
  start(wish: StartWish, show: ShowRun): Promise<readonly string[]>;
  /** The same for a run that is open. */
  resume(runId: string, show: ShowRun): Promise<readonly string[]>;
  /** A run that somebody drives, to look at; it cannot be answered. Closed by `detach`. */
  watch(runId: string): Promise<RunPort>;
  /** Writes the report of a run as HTML into a new file in the current folder, and gives its name. */
  writeReport(runId: string): Promise<string>;
  /** Does an errand, and gives what came of it. Rejects with why nothing did; `leaving` ends it early. */
  carryOut(errand: Errand, leaving: AbortSignal): Promise<ErrandEnd>;
  /**
   * Does something to the lab that the config names, and gives in words what is so then. Rejects where it
   * names none.
   */
  changeLab(change: LabChange): Promise<string>;
  /**
   * Takes a key of an instance from a file, or asks for it in a field that does not show it; stores it, and
   * gives in words what came of it. Rejects where nothing was stored. `file` is a path as somebody typed it:
   * a `~` at its beginning is the home of the user.
   */
  addKey(instance: string, file?: string): Promise<string>;
  /** What looks into a locked key store next asks for its passphrase again. */
  unlock(): void;
  /**
   * Opens a shell on the ordinary terminal, with this home and config in its environment; waits for its end.
   */
  shell(): Promise<void>;
}

/** A secret that is asked for in a field over the screen. Its texts are printable. */
export interface AskedSecret {
  readonly prompt: string;
  /** Asked a second time, and compared. */
  readonly twice?: boolean | undefined;
  /** Fewer characters are refused at once. */
  readonly least?: number | undefined;
  /** Why what was entered before was not taken. */
  readonly refused?: string | undefined;
  /** Nobody has just asked for what needs it: the field comes once nobody is typing. */
  readonly isUnasked?: boolean | undefined;
}

/** The screen, for a command that works beneath it. */
export interface OnScreen {
  /** Rejects with `input.left` where the field is left. */
  enter(asked: AskedSecret): Promise<Secret>;
  /** A line that stands until the next key; an empty one takes it away. Printable. */
  say(text: string): void;
}

export type ShowRun = (port: RunPort) => Promise<Awaited<RunPort['ended']>>;
