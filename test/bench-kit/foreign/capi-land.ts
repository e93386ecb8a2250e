import { randomUUID } from 'node:crypto';

/*
 * What a second platform holds: orgs, spaces, service instances, applications and their bindings. Written
 * from the public text of Cloud Foundry's v3 API alone (cloud_controller_ng, `docs/v3` and `app/`), as an
 * outsider to the product would.
 */

export interface Space {
  readonly guid: string;
  readonly name: string;
  readonly org: { readonly guid: string; readonly name: string };
  /** Whether the token sees it. */
  readonly visible: boolean;
}

export interface ServiceInstance {
  readonly guid: string;
  readonly name: string;
  readonly type: 'managed' | 'user-provided';
  readonly space: Space;
  readonly dashboardUrl: string | null;
  readonly sharedInto: Space[];
  /** What its broker answers to everything. Undefined: it works. */
  brokerSays: string | undefined;
}

export interface Process {
  readonly guid: string;
  readonly type: string;
  readonly instances: number;
  /** By the platform's clock; undefined while it does not run. Milliseconds. */
  startedAt: number | undefined;
  /** The bindings that were there when it was started: what its credentials are from. */
  runsWith: readonly string[];
  /** What its instances show while it runs. Default: `RUNNING`. */
  state?: string;
}

export interface App {
  readonly guid: string;
  readonly name: string;
  readonly space: Space;
  readonly lifecycle: 'buildpack' | 'docker';
  readonly processes: Process[];
  readonly package: string;
  state: 'STARTED' | 'STOPPED';
  droplet: { readonly guid: string; readonly createdAt: number };
}

export interface Operation {
  readonly type: 'create' | 'delete';
  readonly state: 'initial' | 'in progress' | 'succeeded' | 'failed';
  readonly description: string;
}

export interface Binding {
  readonly guid: string;
  readonly type: 'app' | 'key';
  readonly name: string | null;
  readonly instance: ServiceInstance;
  readonly app: App | undefined;
  readonly parameters: object;
  readonly createdAt: number;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Null for one from before operations were kept. */
  operation: Operation | null;
}

/** A build or a deployment. */
export interface Task {
  readonly guid: string;
  readonly app: App;
  createdAt: number;
  readonly labels: Readonly<Record<string, string>>;
  /** `STAGING`, `STAGED`, `FAILED`; `DEPLOYING`, `DEPLOYED`, `CANCELED`. */
  state: string;
  error: string | null;
  droplet: string | null;
}

export interface Job {
  readonly guid: string;
  state: 'PROCESSING' | 'POLLING' | 'COMPLETE' | 'FAILED';
  error: string | undefined;
}

export interface AuditEvent {
  readonly guid: string;
  readonly type: string;
  readonly target: string;
  readonly createdAt: number;
}

/** Everything there is, and a few hands for a test to set it up. */
export interface Land {
  readonly spaces: Space[];
  readonly instances: ServiceInstance[];
  readonly apps: App[];
  bindings: Binding[];
  readonly builds: Task[];
  readonly deployments: Task[];
  readonly jobs: Job[];
  readonly events: AuditEvent[];
  /** What its operator has written into `/v3/info`. */
  custom: object;
  now(): number;
  addSpace(name: string, org: string, visible?: boolean): Space;
  addInstance(given: Pick<ServiceInstance, 'name' | 'space'> & Partial<ServiceInstance>): ServiceInstance;
  /** Runs since an hour ago unless it says otherwise. */
  addApp(given: Pick<App, 'name' | 'space'> & Partial<App>, processes?: Record<string, number>): App;
  /** Made an hour ago unless it says otherwise. */
  addBinding(given: Pick<Binding, 'instance'> & Partial<Binding>): Binding;
  note(type: string, target: string): void;
  bindingsOf(app: App): readonly Binding[];
  /** Starts every process of an application with the credentials of now. */
  start(app: App): void;
}

const HOUR = 3_600_000;

export function openLand(aheadMs: number): Land {
  const now = () => Date.now() + aheadMs;
  const orgs = new Map<string, Space['org']>();
  const land: Land = {
    spaces: [],
    instances: [],
    apps: [],
    bindings: [],
    builds: [],
    deployments: [],
    jobs: [],
    events: [],
    custom: {},
    now,
    addSpace: (name, org, visible = true) => {
      const of = orgs.get(org) ?? { guid: randomUUID(), name: org };
      orgs.set(org, of);
      return added(land.spaces, { guid: randomUUID(), name, org: of, visible });
    },
    addInstance: (given) =>
      added(land.instances, {
        guid: randomUUID(),
        type: 'managed',
        dashboardUrl: null,
        sharedInto: [],
        brokerSays: undefined,
        ...given,
      }),
    addApp: (given, processes = { web: 1 }) => {
      const app: App = added(land.apps, {
        guid: randomUUID(),
        lifecycle: 'buildpack',
        package: randomUUID(),
        state: 'STARTED',
        droplet: { guid: randomUUID(), createdAt: now() - HOUR },
        processes: Object.entries(processes).map(([type, instances]) => ({
          guid: randomUUID(),
          type,
          instances,
          startedAt: given.state === 'STOPPED' ? undefined : now() - HOUR,
          runsWith: [],
        })),
        ...given,
      });
      return app;
    },
    addBinding: (given) => {
      const binding: Binding = added<Binding>(land.bindings, {
        guid: randomUUID(),
        type: given.app === undefined ? 'key' : 'app',
        name: null,
        app: undefined,
        parameters: {},
        createdAt: now() - HOUR,
        labels: undefined,
        operation: null,
        ...given,
      });
      return binding;
    },
    note: (type, target) => {
      land.events.push({ guid: randomUUID(), type, target, createdAt: now() });
    },
    bindingsOf: (app) => land.bindings.filter((binding) => binding.app === app),
    start: (app) => {
      app.state = 'STARTED';
      for (const one of app.processes) {
        one.startedAt = now();
        one.runsWith = land.bindingsOf(app).map(({ guid }) => guid);
      }
    },
  };
  return land;
}

function added<T>(list: T[], item: T): T {
  list.push(item);
  return item;
}
