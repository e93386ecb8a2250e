import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { LabClock } from '../clock.ts';
import { type Launcher, makeLauncher } from '../engine/launcher.ts';
import type { LabInstance } from '../instance.ts';
import { AuditLog } from './audit-log.ts';
import { CfError } from './cf-error.ts';
import { type BindingWish, CredentialBindings } from './credential-bindings.ts';
import {
  type AppProcess,
  type AppState,
  appStateOf,
  LabApp,
  type LabAppParts,
  startAppProcess,
} from './lab-app.ts';
import { NO_METADATA } from './metadata.ts';
import { vcapServices } from './present.ts';
import { Deployments, Staging } from './staging.ts';

export interface PlatformOptions {
  /** Bindings of an application to one instance; default: 1. 2 allows rebinding without downtime. */
  readonly maxBindings?: number;
  /** Bound applications by instance, in a space that no token may see; none by default. */
  readonly unseen?: Readonly<Record<string, number>>;
  /** Unbinding from a lost instance succeeds; by default its job fails. */
  readonly unbindLost?: boolean;
  /** For a new process, before its rollout is canceled. Default: 10 seconds. */
  readonly rolloutMs?: number;
}

interface PlatformParts extends PlatformOptions {
  readonly clock: LabClock;
  readonly launcher: Launcher;
  /** For files that are removed once an application has read them; created here, closed to others. */
  readonly folder: string;
  readonly instances: readonly { readonly instance: LabInstance; readonly sampleApp: boolean }[];
  /** Each sample application's orders in a second. */
  readonly rowsPerSecond: number;
  readonly log: (line: string) => void;
}

/**
 * The application platform around the lab's instances: one org, one space, two applications and a service key
 * for each instance with a sample application. `platform-routes.ts` has the API.
 */
export class Platform {
  readonly createdAt: Date;
  readonly audit: AuditLog;
  readonly jobs: Jobs;
  readonly bindings: CredentialBindings;
  readonly staging: Staging;
  readonly deployments: Deployments;
  readonly apps: readonly LabApp[];
  readonly #instances: readonly LabInstance[];
  readonly #parts: PlatformParts;
  readonly #processes = new Set<AppProcess>();
  readonly #spawning = new Set<Promise<AppProcess>>();
  /** As the user who started the lab: the database's user need not read the applications' code. */
  readonly #launcher = once(async () =>
    this.#parts.launcher.user === undefined ? this.#parts.launcher : await makeLauncher(undefined),
  );
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();

  constructor(parts: PlatformParts) {
    const { clock, log, maxBindings = 1, unbindLost = false } = parts;
    const { now } = clock;
    this.#parts = parts;
    this.createdAt = now();
    this.#instances = parts.instances.map(({ instance }) => instance);
    this.audit = new AuditLog(now);
    this.jobs = new Jobs(now, log);
    this.staging = new Staging(this.audit, now);
    this.deployments = new Deployments(this.audit, now, parts.rolloutMs);
    this.bindings = new CredentialBindings({
      jobs: this.jobs,
      audit: this.audit,
      now,
      maxBindings,
      unbindLost,
    });
    const appParts: LabAppParts = {
      spawn: (app, services) => this.#tracked(this.#spawn(app, services)),
      services: (app) => vcapServices(app, this.bindings.all),
      now,
      log,
      closing: this.#closing.signal,
    };
    this.apps = parts.instances
      .filter(({ sampleApp }) => sampleApp)
      .flatMap(({ instance: { name } }) => [
        new LabApp({ name: `${name}-api`, instance: name, work: 'api' }, appParts),
        new LabApp({ name: `${name}-report`, instance: name, work: 'report' }, appParts),
      ]);
  }

  /** Pushes, binds and starts the applications. Resolves when all are bound; processes come up later. */
  async open(): Promise<void> {
    await Promise.all([
      mkdir(this.#parts.folder, { mode: 0o700 }),
      ...this.apps.map((app) => this.staging.push(app)),
    ]);
    const jobs = this.#firstBindings().map((wish) => this.bindings.create(wish).job);
    await Promise.all(jobs.map(({ ended }) => ended));
    for (const app of this.apps) app.start();
  }

  /** Not deleted. */
  get instances(): readonly LabInstance[] {
    return this.#instances.filter(({ deleted }) => !deleted);
  }

  app(guid: string): LabApp | undefined {
    return this.apps.find((app) => app.guid === guid);
  }

  instance(guid: string): LabInstance | undefined {
    return this.instances.find((instance) => instance.guid === guid);
  }

  /** How many applications are bound to an instance in the space that is not visible. */
  unseenAppsOf(instance: LabInstance): number {
    return this.#parts.unseen?.[instance.name] ?? 0;
  }

  appStates(): readonly AppState[] {
    return this.apps.map((app) => appStateOf(app, this.bindings.all));
  }

  /** Rejects with the signal's reason. */
  async appsReach(
    isReached: (apps: readonly AppState[]) => boolean,
    signal?: AbortSignal,
  ): Promise<readonly AppState[]> {
    const either = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    const { promise, resolve, reject } = Promise.withResolvers<readonly AppState[]>();
    const look = () => {
      const states = this.appStates();
      if (isReached(states)) resolve(states);
    };
    const stop = () => reject(either.reason);
    this.#listeners.add(look);
    either.addEventListener('abort', stop, { once: true });
    if (either.aborted) stop();
    look();
    try {
      return await promise;
    } finally {
      this.#listeners.delete(look);
      either.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the lab ends'));
    await Promise.allSettled(this.#spawning);
    await Promise.all([...this.#processes].map((process) => process.stop()));
  }

  /** One has a name and parameters, so that their loss is noticed. */
  #firstBindings(): BindingWish[] {
    const apps = this.apps.flatMap((app): BindingWish[] => {
      const instance = this.#instances.find(({ name }) => name === app.facts.instance);
      if (instance === undefined) return [];
      const special = app.facts.work === 'report' ? REPORT_BINDING : { name: null, parameters: {} };
      return [{ type: 'app', instance, app, ...special, metadata: NO_METADATA }];
    });
    const keys = this.#parts.instances
      .filter(({ sampleApp }) => sampleApp)
      .map(({ instance }): BindingWish => {
        return { type: 'key', name: 'ops', instance, app: undefined, parameters: {}, metadata: NO_METADATA };
      });
    return [...apps, ...keys];
  }

  async #spawn(app: LabApp, services: AppProcess['services']): Promise<AppProcess> {
    this.#closing.signal.throwIfAborted();
    const { folder, rowsPerSecond } = this.#parts;
    const changed = () => {
      for (const look of [...this.#listeners]) look();
    };
    const launcher = await this.#launcher();
    const { name, work } = app.facts;
    const process = await startAppProcess({
      launcher,
      folder,
      name,
      work,
      perSecond: rowsPerSecond,
      services,
      changed,
    });
    this.#processes.add(process);
    void process.ended.then(() => this.#processes.delete(process));
    return process;
  }

  async #tracked(spawning: Promise<AppProcess>): Promise<AppProcess> {
    this.#spawning.add(spawning);
    try {
      return await spawning;
    } finally {
      this.#spawning.delete(spawning);
    }
  }
}

const REPORT_BINDING = { name: 'reporting-db', parameters: { pool: 4, comment: 'nightly sums' } } as const;

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

type JobState = 'PROCESSING' | 'POLLING' | 'COMPLETE' | 'FAILED';

export interface Job {
  readonly guid: string;
  /** Such as `service_bindings.create`. */
  readonly operation: string;
  readonly resource: { readonly type: string; readonly guid: string };
  readonly state: JobState;
  readonly errors: readonly CfError[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Successfully or not. */
  readonly ended: Promise<void>;
}

/** A job is `PROCESSING`, `POLLING` while the broker works, then ended. */
export class Jobs {
  readonly #now: () => Date;
  readonly #log: (line: string) => void;
  readonly #jobs = new Map<string, Job>();

  constructor(now: () => Date, log: (line: string) => void) {
    this.#now = now;
    this.#log = log;
  }

  find(guid: string): Job | undefined {
    return this.#jobs.get(guid);
  }

  /** The work continues after the answer; its error becomes the job's. */
  start(operation: string, resource: Job['resource'], work: () => Promise<void>): Job {
    const createdAt = this.#now();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const job = { guid: randomUUID(), operation, resource, createdAt, ended };
    const put = (state: JobState, errors: readonly CfError[] = []) => {
      const next: Job = { ...job, state, errors, updatedAt: this.#now() };
      this.#jobs.set(job.guid, next);
      return next;
    };
    setImmediate(() => {
      put('POLLING');
      void work()
        .then(
          () => void put('COMPLETE'),
          (error: unknown) => void put('FAILED', [this.#cfErrorOf(error)]),
        )
        .then(resolve);
    });
    return put('PROCESSING');
  }

  #cfErrorOf(error: unknown): CfError {
    if (error instanceof CfError) return error;
    this.#log(`a job of the platform failed unexpectedly: ${String(error)}`);
    return new CfError(500, 10_001, 'UnknownError', 'An unknown error occurred.');
  }
}
