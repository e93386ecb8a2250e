import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { sampleAppFile } from './app-process.ts';
import type { AuditLog } from './audit-log.ts';
import { unprocessable } from './cf-error.ts';
import type { LabApp } from './lab-app.ts';
import type { Metadata } from './metadata.ts';

/** The code of an application; each has exactly one package, which is ready. */
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

/** Packages, and the builds that make droplets of them. */
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

  /** Gives an application its package and a droplet of it. */
  async push(app: LabApp): Promise<void> {
    const pushed: Package = { guid: randomUUID(), app, createdAt: this.#now() };
    this.packages.push(pushed);
    app.droplet = (await this.#makeDroplet(pushed)).guid;
  }

  /** Begins a build. Throws 422 while another build of the application is in progress. */
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
