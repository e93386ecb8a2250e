import { randomUUID } from 'node:crypto';

/** A thing of the platform with the fields that every resource of the v3 API has. */
export interface Thing {
  readonly guid: string;
  created_at: string;
  metadata: { labels: Record<string, string> };
}

export interface ModelApp {
  readonly guid: string;
  readonly name: string;
  readonly space: string;
  state: 'STARTED' | 'STOPPED';
  lifecycle: 'buildpack' | 'docker';
  droplet: Thing;
  /** Start of each instance, in milliseconds. */
  starts: number[];
  instanceState: string;
}

export interface ModelBinding extends Thing {
  readonly type: 'app' | 'key';
  readonly name: string | null;
  readonly app: string | undefined;
  readonly instance: string;
  readonly parameters: Record<string, unknown>;
  operation: {
    type: 'create' | 'delete';
    state: 'in progress' | 'succeeded' | 'failed';
    description: string;
  };
}

export interface ModelBuild extends Thing {
  readonly app: string;
  state: 'STAGING' | 'STAGED' | 'FAILED';
  error: string | null;
  droplet: Thing | null;
}

export interface ModelDeployment extends Thing {
  readonly app: string;
  readonly droplet: string;
  value: 'ACTIVE' | 'FINALIZED';
  reason: string;
  error: string | null;
}

export interface ModelJob {
  readonly guid: string;
  /** Looks until it is over. */
  left: number;
  state: 'PROCESSING' | 'COMPLETE' | 'FAILED';
  errors: { code: number; title: string; detail: string }[];
  readonly finish: () => void;
}

/** As the platform writes times: whole seconds. */
export function stamp(ms = Date.now()): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

export function thing(ms?: number, labels: Record<string, string> = {}): Thing {
  return { guid: randomUUID(), created_at: stamp(ms), metadata: { labels } };
}

/** What the platform holds, and what it has really done. */
export class CapiModel {
  readonly spaces = [{ guid: 'space-prod', name: 'prod', org: 'org-acme' }];
  readonly orgs = [{ guid: 'org-acme', name: 'acme' }];
  readonly instances: { guid: string; name: string; space: string; dashboard: string }[] = [];
  readonly apps: ModelApp[] = [];
  bindings: ModelBinding[] = [];
  readonly builds: ModelBuild[] = [];
  readonly deployments: ModelDeployment[] = [];
  readonly jobs = new Map<string, ModelJob>();
  readonly events: { guid: string; type: string; created_at: string; target: string }[] = [];
  readonly usage: { space: string; apps: number }[] = [];
  /** Every change that was really made, in order. */
  readonly ledger: string[] = [];
  maxBindings = 1;
  info: Record<string, unknown> = {};
  deployments404 = false;
  /** How the next job, build and deployment end. */
  nextJobFails: string | undefined;
  nextBuildFails: string | undefined;
  nextDeploymentEnds: { reason: string; error: string } | undefined;
  /** Looks until a job is over. */
  looks = 2;

  addInstance(name: string, dashboard: string): string {
    const guid = `si-${name}`;
    this.instances.push({ guid, name, space: 'space-prod', dashboard });
    return guid;
  }

  addApp(name: string, overrides: Partial<ModelApp> = {}): ModelApp {
    const old = Date.now() - 3_600_000;
    const app: ModelApp = {
      guid: `app-${this.apps.length + 1}`,
      name,
      space: 'space-prod',
      state: 'STARTED',
      lifecycle: 'buildpack',
      droplet: thing(old),
      starts: [old, old],
      instanceState: 'RUNNING',
      ...overrides,
    };
    this.apps.push(app);
    return app;
  }

  addBinding(
    app: ModelApp | undefined,
    instance: string,
    overrides: Partial<ModelBinding> = {},
  ): ModelBinding {
    const binding: ModelBinding = {
      ...thing(Date.now() - 3_600_000),
      type: app === undefined ? 'key' : 'app',
      name: null,
      app: app?.guid,
      instance,
      parameters: {},
      operation: { type: 'create', state: 'succeeded', description: '' },
      ...overrides,
    };
    this.bindings.push(binding);
    return binding;
  }

  start(app: ModelApp): void {
    app.state = 'STARTED';
    app.starts = app.starts.map(() => Date.now());
  }

  job(finish: () => void): ModelJob {
    const fails = this.nextJobFails;
    this.nextJobFails = undefined;
    const job: ModelJob = {
      guid: randomUUID(),
      left: this.looks,
      state: 'PROCESSING',
      errors: fails === undefined ? [] : [{ code: 10008, title: 'CF-UnprocessableEntity', detail: fails }],
      finish,
    };
    this.jobs.set(job.guid, job);
    return job;
  }

  /** Time passes while one looks: each look brings whatever is under way closer to its end. */
  tick(): void {
    for (const job of this.jobs.values()) {
      if (job.state !== 'PROCESSING' || --job.left > 0) continue;
      job.state = job.errors.length > 0 ? 'FAILED' : 'COMPLETE';
      job.finish();
    }
    for (const build of this.builds) {
      if (build.state !== 'STAGING') continue;
      if (build.error === null) Object.assign(build, { state: 'STAGED', droplet: thing() });
      else build.state = 'FAILED';
    }
    for (const deployment of this.deployments) {
      if (deployment.value !== 'ACTIVE') continue;
      deployment.value = 'FINALIZED';
      const app = this.apps.find(({ guid }) => guid === deployment.app);
      if (deployment.reason !== 'DEPLOYING' || app === undefined) continue;
      deployment.reason = 'DEPLOYED';
      this.start(app);
    }
  }

  record(type: string, target: string): void {
    this.ledger.push(type);
    this.events.push({ guid: randomUUID(), type: `audit.${type}`, created_at: stamp(), target });
  }
}
