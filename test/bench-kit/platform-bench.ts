import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { TestContext } from 'vitest';
import { CANARIES } from './canaries.ts';
import { type ForeignCapi, type ForeignCapiOptions, startForeignCapi } from './foreign/capi.ts';
import type { App, Land, ServiceInstance } from './foreign/capi-land.ts';
import { installCf } from './install-cf.ts';
import { builtProduct } from './product.ts';
import { type BenchOptions, openBench, type TestBench } from './test-bench.ts';

/** Words in binding parameters that must not show anywhere. */
export const PARAMETER = 'role-secret-Wd7cKp3mTz';

/** A foreign service, a foreign platform, and a person's machine with the config for both. */
export interface PlatformBench extends TestBench {
  readonly capi: ForeignCapi;
  readonly land: Land;
  readonly orders: ServiceInstance;
  readonly target: ServiceInstance;
  /** By space and name. */
  app(name: string): App;
  /** What the platform was asked to change, in order: `DELETE binding prod/shop`. */
  asked(): readonly string[];
  /** Rewrites the config with this text for the platform. */
  configure(platform: string): void;
  /** Installs the tool `cf`, logged in or out, and lets the config go by it. */
  installCf(isLoggedIn: boolean): void;
  /** `restore-backup` of the newest backup, everything answered by flags. */
  restore(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
}

export interface PlatformBenchOptions extends Partial<ForeignCapiOptions> {
  readonly service?: BenchOptions;
}

/** Benches as those of `useQuickBenches`, with a platform. */
export function usePlatformBenches(): (
  context: Pick<TestContext, 'onTestFinished'>,
  options?: PlatformBenchOptions,
) => Promise<PlatformBench> {
  const product = builtProduct({ cheapVault: true });
  return async ({ onTestFinished }, { service, ...options } = {}) => {
    const bench = await openBench(product, { taskMs: 40, commandsHere: true, ...service });
    const capi = await startForeignCapi({ token: CANARIES.otherToken, ...options });
    onTestFinished(async () => {
      await bench.close();
      await capi.close();
    });
    return furnish(bench, capi);
  };
}

/**
 * Three applications that are bound, one of them stopped, two of one name in two spaces; a service key;
 * unrelated things.
 */
function furnish(bench: TestBench, capi: ForeignCapi): PlatformBench {
  const { land } = capi;
  const prod = land.addSpace('prod', 'acme');
  const stage = land.addSpace('stage', 'acme');
  const dark = land.addSpace('dark', 'acme', false);
  land.addInstance({ name: 'syslog', space: prod, type: 'user-provided' });
  const [orders, target] = ['orders', 'orders-dr'].map((name) =>
    land.addInstance({
      name: `${name} db`,
      space: prod,
      dashboardUrl: `${bench.server.urlOf(name)}/`,
      sharedInto: [stage, dark],
    }),
  ) as [ServiceInstance, ServiceInstance];
  const shop = land.addApp({ name: 'shop', space: prod }, { web: 2, worker: 1 });
  const job = land.addApp({ name: 'job', space: prod, state: 'STOPPED' });
  const other = land.addApp({ name: 'shop', space: stage, lifecycle: 'docker' });
  const unseen = land.addApp({ name: 'unseen', space: dark });
  land.addApp({ name: 'bystander', space: prod });
  land.addBinding({ instance: orders, app: shop, name: 'db', parameters: { role: PARAMETER } });
  land.addBinding({ instance: orders, app: job });
  land.addBinding({ instance: orders, app: other });
  land.addBinding({ instance: orders, app: unseen });
  for (const app of land.apps) if (app.state === 'STARTED') land.start(app);
  for (const app of land.apps)
    for (const one of app.processes) if (one.startedAt !== undefined) one.startedAt -= 3_600_000;
  land.addBinding({ instance: orders, name: 'report', parameters: { role: PARAMETER } });
  writeFileSync(join(bench.folder, 'platform-token'), `bearer ${CANARIES.otherToken}\n`, { mode: 0o600 });
  const configure = (platform: string) => {
    const instances = bench.server.instances.map(
      ({ name }) =>
        `  ${name}: { url: "${bench.server.urlOf(name)}", revision: 62, token: { file: ./token }, inFlight: 1s }\n`,
    );
    const text = `operator: { name: Robin }\nplatform: ${platform}\ninstances:\n${instances.join('')}`;
    writeFileSync(bench.env['LIFEBOAT_CONFIG'] ?? '', text);
  };
  configure(`{ api: "${capi.url}", token: { file: ./platform-token } }`);
  return {
    ...bench,
    capi,
    land,
    orders,
    target,
    app: (name) => {
      const app = land.apps.find((one) => `${one.space.name}/${one.name}` === name);
      if (app === undefined) throw new Error(`there is no ${name}`);
      return app;
    },
    asked: () => capi.wishes.map(({ method, path, about }) => `${method} ${kindOf(path)} ${about}`),
    configure,
    installCf: (isLoggedIn) => {
      const token = isLoggedIn ? `bearer ${CANARIES.otherToken}` : '';
      const { bin } = installCf(bench.folder, { Target: capi.url, AccessToken: token });
      Object.assign(bench.env, { PATH: `${bin}:${process.env['PATH']}` });
      configure('cf');
    },
    restore: (...args) =>
      bench.run(
        ...['run', 'restore-backup', '--instance', 'orders', '--backup', `${bench.server.backups[0]?.id}`],
        ...['--yes', '--confirm', 'orders', ...args],
      ),
  };
}

function kindOf(path: string): string {
  const [, , kind = '', , ...rest] = path.split('/');
  return [kind.replace('service_credential_bindings', 'binding').replace(/s$/u, ''), ...rest].join(' ');
}

/**
 * Whether an application has one binding to this instance, made in this test, and every process was started
 * with it.
 */
export function runsOn({ land }: PlatformBench, app: App, instance: ServiceInstance): boolean {
  const bound = land.bindingsOf(app).filter((one) => one.instance === instance);
  const [only, second] = bound;
  return (
    only !== undefined &&
    second === undefined &&
    only.labels !== undefined &&
    app.processes.every(({ runsWith, startedAt }) => startedAt !== undefined && runsWith.includes(only.guid))
  );
}

/** All that a restore in place asks of the platform, in any order of the applications. */
export const IN_PLACE: readonly string[] = [
  ...['DELETE binding', 'POST binding', 'POST build', 'POST deployment'].map((wish) => `${wish} prod/shop`),
  ...['DELETE binding', 'POST binding'].map((wish) => `${wish} prod/job`),
  ...['DELETE binding', 'POST binding', 'POST deployment'].map((wish) => `${wish} stage/shop`),
  ...['DELETE binding', 'POST binding'].map((wish) => `${wish} report`),
];
