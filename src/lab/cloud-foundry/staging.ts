import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { AuditLog } from './audit-log.ts';
import { unprocessable } from './cf-error.ts';
import { type LabApp, sampleAppFile } from './lab-app.ts';
import type { Metadata } from './metadata.ts';

/** An application's code: exactly one package each, always ready. */
export interface Package {
  readonly guid: string;
  readonly app: LabApp;
  readonly createdAt: Date;
}

export interface Droplet {
  readonly guid: string;
  readonly app: LabApp;
  readonly package: Package;
  /** SHA-256 of what would run. */
  readonly checksum: string;
  readonly createdAt: Date;
}

export interface Build {
  readonly guid: string;
  readonly package: Package;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  updatedAt: Date;
  state: 'STAGING' | 'STAGED' | 'FAILED';
  droplet: Droplet | undefined;
  error: string | undefined;
}

export class Staging {
  readonly #audit: AuditLog;
  readonly #now: () => Date;
  readonly packages: Package[] = [];
  readonly builds: Build[] = [];
  readonly droplets: Droplet[] = [];

  constructor(audit: AuditLog, now: () => Date) {
    this.#audit = audit;
    this.#now = now;
  }

  /** Gives an application its package and droplet. */
  async push(app: LabApp): Promise<void> {
    const pushed: Package = { guid: randomUUID(), app, createdAt: this.#now() };
    this.packages.push(pushed);
    app.droplet = (await this.#makeDroplet(pushed)).guid;
  }

  /** Throws 422 while another build of the application is in progress. */
  build(source: Package, metadata: Metadata): Build {
    if (this.builds.some((other) => other.package.app === source.app && other.state === 'STAGING')) {
      throw unprocessable('Only one build can be STAGING at a time per application.');
    }
    const at = this.#now();
    const build: Build = {
      guid: randomUUID(),
      package: source,
      metadata,
      createdAt: at,
      updatedAt: at,
      state: 'STAGING',
      droplet: undefined,
      error: undefined,
    };
    this.builds.push(build);
    const ids = { build_guid: build.guid, package_guid: source.guid };
    this.#audit.recordApp('audit.app.build.create', source.app, ids);
    setImmediate(() => void this.#stage(build));
    return build;
  }

  async #stage(build: Build): Promise<void> {
    const { app } = build.package;
    const ids = { build_guid: build.guid, package_guid: build.package.guid };
    try {
      build.droplet = await this.#makeDroplet(build.package);
      build.state = 'STAGED';
      this.#audit.recordApp('audit.app.build.staged', app, { ...ids, droplet_guid: build.droplet.guid });
    } catch {
      build.error = 'StagingError - Staging error: the code of the application cannot be read';
      build.state = 'FAILED';
      this.#audit.recordApp('audit.app.build.failed', app, ids);
    }
    build.updatedAt = this.#now();
  }

  async #makeDroplet(source: Package): Promise<Droplet> {
    const checksum = createHash('sha256')
      .update(await readFile(sampleAppFile()))
      .digest('hex');
    const { app } = source;
    const droplet: Droplet = { guid: randomUUID(), app, package: source, checksum, createdAt: this.#now() };
    this.droplets.push(droplet);
    return droplet;
  }
}

export interface Deployment {
  readonly guid: string;
  readonly app: LabApp;
  readonly droplet: Droplet;
  readonly previousDroplet: string | undefined;
  readonly maxInFlight: number;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  updatedAt: Date;
  value: 'ACTIVE' | 'FINALIZED';
  reason: 'DEPLOYING' | 'CANCELING' | 'DEPLOYED' | 'CANCELED' | 'SUPERSEDED';
  /** Why it did not finish. */
  error: string | undefined;
  healthyAt: Date | undefined;
}

type DeploymentWish = Pick<Deployment, 'app' | 'droplet' | 'maxInFlight' | 'metadata'>;

const ROLLOUT_MS = 10_000;

/** A new process takes over once it works; otherwise the old one stays. */
export class Deployments {
  readonly #audit: AuditLog;
  readonly #now: () => Date;
  readonly #patienceMs: number;
  readonly #all: Deployment[] = [];
  readonly #endings = new Map<Deployment, AbortController>();

  constructor(audit: AuditLog, now: () => Date, patienceMs: number = ROLLOUT_MS) {
    this.#audit = audit;
    this.#now = now;
    this.#patienceMs = patienceMs;
  }

  /** Oldest first. */
  get all(): readonly Deployment[] {
    return this.#all;
  }

  /** Replaces a rollout in progress. Starts a stopped application. */
  create(wish: DeploymentWish): Deployment {
    const { app, droplet } = wish;
    const at = this.#now();
    const deployment: Deployment = {
      ...wish,
      guid: randomUUID(),
      previousDroplet: app.droplet,
      createdAt: at,
      updatedAt: at,
      value: 'ACTIVE',
      reason: 'DEPLOYING',
      error: undefined,
      healthyAt: undefined,
    };
    const before = this.#activeOf(app);
    if (before !== undefined) this.#finalize(before, 'SUPERSEDED');
    this.#all.push(deployment);
    app.droplet = droplet.guid;
    this.#audit.recordApp('audit.app.droplet.mapped', app, { request: { droplet_guid: droplet.guid } });
    this.#audit.recordApp('audit.app.deployment.create', app, {
      deployment_guid: deployment.guid,
      droplet_guid: droplet.guid,
      strategy: 'rolling',
    });
    const ending = new AbortController();
    this.#endings.set(deployment, ending);
    void this.#roll(deployment, ending.signal);
    return deployment;
  }

  /** Throws 422 if it has ended. */
  cancel(deployment: Deployment): void {
    if (deployment.value !== 'ACTIVE') throw unprocessable('Cannot cancel a FINALIZED deployment');
    deployment.reason = 'CANCELING';
    deployment.updatedAt = this.#now();
    const ids = { deployment_guid: deployment.guid, droplet_guid: deployment.previousDroplet ?? null };
    this.#audit.recordApp('audit.app.deployment.cancel', deployment.app, ids);
    this.#endings.get(deployment)?.abort();
  }

  cancelOf(app: LabApp): void {
    const active = this.#activeOf(app);
    if (active?.reason === 'DEPLOYING') this.cancel(active);
  }

  #activeOf(app: LabApp): Deployment | undefined {
    return this.#all.find((other) => other.app === app && other.value === 'ACTIVE');
  }

  async #roll(deployment: Deployment, signal: AbortSignal): Promise<void> {
    const { app, previousDroplet } = deployment;
    const error = await app.roll(this.#patienceMs, signal).catch((thrown: unknown) => String(thrown));
    if (deployment.value === 'FINALIZED') return;
    if (error === undefined) {
      deployment.healthyAt = this.#now();
      this.#finalize(deployment, 'DEPLOYED');
      return;
    }
    app.droplet = previousDroplet;
    if (deployment.reason !== 'CANCELING') deployment.error = error;
    this.#finalize(deployment, 'CANCELED');
  }

  #finalize(deployment: Deployment, reason: Deployment['reason']): void {
    deployment.value = 'FINALIZED';
    deployment.reason = reason;
    deployment.updatedAt = this.#now();
    this.#endings.get(deployment)?.abort();
    this.#endings.delete(deployment);
  }
}
