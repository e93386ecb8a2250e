import type {
  BoundApp,
  PlatformInstance,
  PlatformProof,
  ServiceKey,
} from '../../machines/parts/recovery-data.ts';
import type { Failure } from '../base/failure.ts';
import type { Leave } from '../service/call.ts';

/** Binding parameters: they may hold secrets, so they never leave memory but into a private file. */
export type BindingParameters = Readonly<Record<string, unknown>>;

/** Why there is no platform, for people. */
export interface NoPlatform {
  readonly none: string;
  /** Set where the config says so; else there may be one that cannot be used from here. */
  readonly by?: 'config';
}

export interface FoundBindings {
  readonly instance: PlatformInstance;
  readonly apps: readonly (BoundApp & {
    readonly parameters?: BindingParameters;
    /** Every binding of it to the instance, newest first; `run` is the label of the run that made it. */
    readonly bindings?: readonly FoundBinding[];
  })[];
  readonly keys: readonly (ServiceKey & { readonly parameters?: BindingParameters })[];
  /** Why the parameters of bindings are not known, for people; absent when they were reported. */
  readonly parametersUnreported?: string;
  /** Bound applications in spaces that this token may not see. */
  readonly unseen: readonly { readonly space: string; readonly apps: number }[];
  /**
   * Whether an application may hold two bindings to one instance for a while (RFC 0040; default 1, then not).
   */
  readonly allowsTwoBindings: boolean;
}

export interface FoundBinding {
  readonly guid: string;
  readonly createdAt?: string;
  readonly run?: string;
}

export interface RebindOptions extends Leave {
  /** The label `lifeboat.run` of what is created; looked for before it is created again (domain 2.4). */
  readonly runId: string;
  /** Called with one short sentence about what the platform is doing. */
  readonly tell?: (what: string) => void;
}

/** What is done to an application once the data is there again. */
export interface AfterRestore extends RebindOptions {
  /** RFC 3339; the end of the restore. */
  readonly notBefore: string;
}

export interface BindOptions extends AfterRestore {
  readonly parameters: BindingParameters | undefined;
  /** Beside the old binding, for the order without downtime. */
  readonly beside: boolean;
}

export interface KeyOptions extends AfterRestore {
  readonly parameters?: BindingParameters | undefined;
}

export type ProveOptions = Pick<AfterRestore, 'signal' | 'runId' | 'notBefore'>;

/**
 * The application platform around the service, by its v3 API. Every change is safe to repeat after the
 * process died: what was created carries the run's label and is found again; what is gone stays gone.
 *
 * Rejects with a LifeboatError: `platform.unreachable`, `credentials.refused`, `credentials.missing`,
 * `platform.forbidden`, `platform.not-found`, `platform.refused` (422 with the platform's own words as
 * evidence), `platform.failed` (a job or deployment that ended badly), `platform.bound` (the old binding is
 * still there, so binding would change nothing), `platform.busy` (an operation on the binding is under way),
 * `platform.bad-answer`, `platform.too-large`, `platform.stopped` (the signal), and what `mayLeave` throws:
 * then not a byte of that change was sent.
 */
export interface Platform {
  /** `cf`: address and token are those of the tool `cf`. */
  readonly way: 'platform' | 'cf';
  /** One line for people: which platform, as whom. */
  readonly description: string;
  /** By the dashboard address of the service, as the config has it. */
  find(dashboardUrl: string, signal: AbortSignal): Promise<FoundBindings>;
  /** Removes a binding and waits until it is gone; one that is not there is `already`. */
  unbind(app: BoundApp, options: RebindOptions): Promise<PlatformProof>;
  /**
   * Binds with the name and parameters of before and waits until it is there. Content with a binding of this
   * run, whatever the clocks say; never with another one that is older than `notBefore`: the platform calls
   * an application that is bound already a success and gives it no new credentials.
   */
  bind(app: BoundApp, to: PlatformInstance, options: BindOptions): Promise<PlatformProof>;
  /**
   * Stages anew and rolls it out (rolling where the platform can), and waits until every instance runs. A
   * stopped app is `not-needed`.
   */
  restage(app: BoundApp, options: AfterRestore): Promise<PlatformProof>;
  /**
   * Makes a service key anew under its old name, with the parameters that were kept, else with those that the
   * platform tells of the old one.
   */
  renewKey(key: ServiceKey, to: PlatformInstance, options: KeyOptions): Promise<PlatformProof>;
  /**
   * What can be proven about an application now, whoever rebound it: its binding is of this run or younger
   * than `notBefore`, and all of its processes were started after it.
   */
  prove(app: BoundApp, to: PlatformInstance, options: ProveOptions): Promise<PlatformProof | Failure>;
  close(): Promise<void>;
}
