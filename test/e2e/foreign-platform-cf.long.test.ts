import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  IN_PLACE,
  PARAMETER,
  type PlatformBench,
  type PlatformBenchOptions,
  runsOn,
  usePlatformBenches,
} from '../bench-kit/platform-bench.ts';

describe.concurrent('a foreign platform by the login of the cf tool', { timeout: 3_000_000 }, () => {
  const bench = usePlatformBenches();

  test.for<{ name: string; options: PlatformBenchOptions }>([
    { name: 'beside a service whose clock is ten minutes ahead', options: { service: { aheadMs: 600_000 } } },
    { name: 'whose service does not report parameters', options: { retrievable: false } },
  ])('$name: each application is rebound once', async ({ options }, { onTestFinished }) => {
    const strange = await bench({ onTestFinished }, options);
    const { installCf, restore, folder, land, app } = strange;
    installCf(true);
    const login = readFileSync(join(folder, '.cf/config.json'), 'utf8');
    const end = await restore();
    expect(changed(strange), end.stderr).toEqual(IN_PLACE.toSorted());
    for (const name of ['prod/shop', 'stage/shop']) {
      expect(runsOn(strange, app(name), strange.orders), name).toBe(true);
    }
    const kept = options.retrievable === false ? {} : { role: PARAMETER };
    expect(land.bindingsOf(app('prod/shop'))).toMatchObject([{ name: 'db', parameters: kept }]);
    expect(readFileSync(join(folder, '.cf/config.json'), 'utf8')).toBe(login);
    expect(JSON.stringify(await strange.entries()) + end.stdout + end.stderr).not.toContain(PARAMETER);
    expect(end.code).toBe(3);
  });

  // An unbinding, a binding, a deployment, and the making of a service key.
  test.for([{ index: 0 }, { index: 1 }, { index: 3 }, { index: 10 }])(
    'whose process dies in request $index is asked for nothing twice by the next one',
    async ({ index }, { onTestFinished }) => {
      const killed = Promise.withResolvers<void>();
      const died = Promise.withResolvers<void>();
      let seen = 0;
      const strange = await bench(
        { onTestFinished },
        {
          mishap: () => {
            seen += 1;
            if (seen !== index + 1) return undefined;
            killed.resolve();
            return { until: died.promise, answer: 'lost' };
          },
        },
      );
      const { installCf, server, start, run, app, orders } = strange;
      installCf(true);
      const flags = ['--backup', `${server.backups[0]?.id}`, '--yes', '--confirm', 'orders'];
      const first = start('run', 'restore-backup', '--instance', 'orders', ...flags);
      await Promise.race([killed.promise, first.ended]);
      first.child.kill('SIGKILL');
      await first.ended;
      died.resolve();
      const end = await run('resume', '--yes', '--confirm', 'orders');
      const twice = changed(strange).filter((wish, at, all) => all.indexOf(wish) !== at);
      expect(twice, end.stderr).toEqual([]);
      for (const name of ['prod/shop', 'stage/shop']) {
        expect(runsOn(strange, app(name), orders), `${name}\n${end.stderr}`).toBe(true);
      }
    },
  );

  test.for([{ installed: true }, { installed: false }])(
    'that cannot be used (installed: $installed) never lets a run end as if no application were bound',
    async ({ installed }, { onTestFinished }) => {
      const { installCf, configure, restore, asked } = await bench({ onTestFinished });
      if (installed) installCf(false);
      else configure('cf');
      const end = await restore();
      expect(end.code, end.stderr).toBe(3);
      expect(end.stderr).toContain('which are bound is not known');
      expect(asked()).toEqual([]);
    },
  );
});

function changed({ asked }: PlatformBench): string[] {
  return asked().toSorted();
}
