import type {
  BoundApp,
  PlatformInstance,
  PlatformProof,
  PlatformRight,
  ServiceKey,
} from '../../machines/parts/recovery-data.ts';
import type { Failure } from '../base/failure.ts';
import type { Leave } from '../service/call.ts';

/** Binding parameters: they may hold secrets, so they leave memory only into a private file. */
export type BindingParameters = Readonly<Record<string, unknown>>;

export interface NoPlatform {
  readonly none: string;
  /** Set if the config says so; otherwise there may be one that is not usable from here. */
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
  /** Why the parameters of bindings are unknown, for people; missing if they were reported. */
  readonly parametersUnreported?: string;
  /** Bound applications in spaces that this token may not see. */
  readonly unseen: readonly { readonly space: string; readonly apps: number }[];
  /** Whether one application may hold two bindings to an instance for a while (RFC 0040; default: no). */
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
  readonly tell?: (what: string) => void;
}

export interface AfterRestore extends RebindOptions {
  /** RFC 3339; the end of the restore. */
  readonly notBefore: string;
}

export interface BindOptions extends AfterRestore {
  readonly parameters: BindingParameters | undefined;
  /** Bind beside the old binding, for an order without downtime. */
  readonly beside: boolean;
}

export interface KeyOptions extends AfterRestore {
  readonly parameters?: BindingParameters | undefined;
}

export type ProveOptions = Pick<AfterRestore, 'signal' | 'runId' | 'notBefore'>;

/**
 * The application platform around the service, through its v3 API. Every change is repeatable after a crash:
 * what was created carries the run's label and is found again; what is gone stays gone. Rejects with a
 * LifeboatError: `platform.unreachable`, `credentials.refused`, `credentials.missing`, `platform.forbidden`,
 * `platform.not-found`, `platform.refused` (422, the platform's words as evidence), `platform.failed` (a job
 * or deployment), `platform.bound` (the old binding exists, so binding would change nothing), `platform.busy`
 * (an operation on the binding is under way), `platform.bad-answer`, `platform.too-large`, `platform.stopped`
 * (the signal), and the error of `mayLeave`: then not a byte of that change was sent.
 */
export interface Platform {
  /** `cf`: address and token come from the tool `cf`. */
  readonly way: 'platform' | 'cf';
  /** One line for people: which platform, as whom. */
  readonly description: string;
  /** By the service's dashboard address in the config. */
  find(dashboardUrl: string, signal: AbortSignal): Promise<FoundBindings>;
  /** By the service's dashboard address in the config. One listing of instances serves every call. */
  right(dashboardUrl: string, signal: AbortSignal): Promise<PlatformRight>;
  /** Removes a binding and waits until it is gone; a missing one is `already`. */
  unbind(app: BoundApp, options: RebindOptions): Promise<PlatformProof>;
  /**
   * Binds with the earlier name and parameters and waits until the binding exists. Accepts a binding of this
   * run, whatever the clocks say, but never another one that is older than `notBefore`: for an application
   * that is already bound the platform reports success and gives it no new credentials.
   */
  bind(app: BoundApp, to: PlatformInstance, options: BindOptions): Promise<PlatformProof>;
  /** Stages, rolls out (rolling if possible), waits until all instances run. Stopped: `not-needed`. */
  restage(app: BoundApp, options: AfterRestore): Promise<PlatformProof>;
  /** Replaces a service key under its old name, with the kept parameters, else those reported for it. */
  renewKey(key: ServiceKey, to: PlatformInstance, options: KeyOptions): Promise<PlatformProof>;
  /**
   * What can be proven about an application now, even if another person rebound it: its binding is of this
   * run or newer than `notBefore`, and all of its processes were started after it.
   */
  prove(app: BoundApp, to: PlatformInstance, options: ProveOptions): Promise<PlatformProof | Failure>;
  close(): Promise<void>;
}
