import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { openMachine } from '../bench-kit/machine.ts';
import { watchTree } from '../bench-kit/process-tree.ts';
import { builtProduct, drillBelow } from '../bench-kit/product.ts';
import { leaksIn, leaksInProcesses } from '../e2e/leaks.ts';
import { count } from './figures.ts';
import { piecesIn } from './pieces.ts';
import { runIdsIn } from './run-ids.ts';
import { tapIn } from './tap.ts';
import { watchOver } from './watched.ts';

describe.skipIf(!existsSync('/proc/self/environ'))('no secret is anywhere but where it belongs', () => {
  const product = builtProduct({ cheapVault: true });

  /** A machine whose random numbers are written down. */
  function machine(context: Pick<TestContext, 'onTestFinished'>) {
    const place = openMachine(product, context);
    const { folder, env } = place;
    mkdirSync(join(folder, 'tmp'));
    // PostgreSQL, which refuses to run as root, gets a user of its own there; it must be able to walk in.
    for (const path of [folder, join(folder, 'tmp')]) chmodSync(path, 0o755);
    const tap = tapIn(folder);
    Object.assign(env, tap.env);
    return { ...place, drawn: tap.drawn };
  }

  test('after an automatic drill: no token of its lab, no key, no password of a binding', {
    timeout: 1_200_000,
  }, async (context) => {
    const place = machine(context);
    const report = join(place.folder, 'report');
    const held = async () => place.drawn();
    const { found, looks } = await watchOver(
      place,
      { known: [], held, folders: ['home', 'report'] },
      async (run) => {
        const end = await run('drill', 'disaster-recovery', '--auto', '--json', '--report', report);
        expect(end.code, end.stderr).toBe(0);
        // Its journal can be shown as any other; the keys of the drill are gone.
        Object.assign(place.env, { LIFEBOAT_HOME: drillBelow(report), ...laterReader(place.folder) });
        const newest =
          runIdsIn((await run('runs', '--json')).stdout)
            .toSorted()
            .at(-1) ?? 'none';
        for (const words of SHOWING) {
          const { code, stderr } = await run(...words, newest);
          expect(code, `${words.join(' ')}: ${stderr}`).toBe(0);
        }
      },
    );
    expect(found).toEqual([]);
    expect(place.drawn().length).toBeGreaterThan(MIN_SECRETS);
    count('secrets', { secrets: place.drawn().length, 'outputs and processes': looks, leaks: 0 });
  });

  test('while a lab runs and is used: only its own files contain them, and those are private', {
    timeout: 1_200_000,
  }, async (context) => {
    const place = machine(context);
    const yard = join(place.folder, 'yard');
    const lab = place.start('lab', '--folder', yard, '--port', '0');
    const watch = watchTree(lab.child.pid ?? 0);
    context.onTestFinished(() => watch.stop());
    await expect.poll(lab.stderr, { timeout: 600_000 }).toContain('Ctrl-C ends the lab');
    const [, url = ''] = /(http:\/\/127\.0\.0\.1:\d+)$/mu.exec(lab.stderr()) ?? [];
    const token = readFileSync(join(yard, 'token'), 'utf8').trim();
    const call = (method: string, path: string, body?: object) =>
      fetch(`${url}${path}`, {
        method,
        headers: { authorization: token, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const given = await call('POST', '/lab/instances/orders/bindings', { app: 'mine' });
    const { credentials } = (await given.json()) as { readonly credentials: { readonly password: string } };
    expect(place.drawn()).toContain(credentials.password);
    expect((await call('POST', '/lab/tokens', { expire: false })).status).toBe(200);
    for (const path of ['', '/calls', '/apps', '/clock', '/instances/orders/bindings', '/scenario'])
      expect(leaksIn(path, await (await call('GET', `/lab${path}`)).text(), place.drawn())).toEqual([]);
    const secrets = place.drawn();
    expect(secrets.length).toBeGreaterThan(MIN_SECRETS);
    expect(secrets).toContain(readFileSync(join(yard, 'orders.key'), 'utf8').trim());
    const holders = ['tmp', 'yard'].flatMap((name) => holdersIn(join(place.folder, name), secrets));
    // What an application was started with, it has removed itself; one that starts just now still has it.
    const lasting = holders.filter(({ name }) => !/apps\/[^/]*\.json$/u.test(name));
    expect(lasting.map(({ name }) => name).toSorted()).toEqual(['orders.key', 'token', 'token-readonly']);
    for (const { name, mode } of holders) expect(mode, name).toBe(0o600);
    lab.child.kill('SIGTERM');
    const end = await lab.ended;
    watch.stop();
    expect(end.code, end.stderr).toBe(0);
    expect(piecesIn('the output', end.stdout + end.stderr, secrets)).toEqual([]);
    expect(leaksInProcesses(watch.seen(), secrets)).toEqual([]);
    expect(watch.seen().filter(({ cmdline }) => cmdline.includes('sample-app')).length).toBeGreaterThan(0);
    expect(readdirSync(join(place.folder, 'tmp'))).toEqual([]);
    count('secrets', { secrets: secrets.length, 'outputs and processes': watch.seen().length, leaks: 0 });
  });
});

/** The tokens and the first key of a lab, and a password for each of its applications. */
const MIN_SECRETS = 5;

/** Files of a folder in use, in which some of these secrets stand in any form. */
function holdersIn(
  folder: string,
  secrets: readonly string[],
): { readonly name: string; readonly mode: number }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    try {
      const path = join(folder, name);
      const facts = statSync(path);
      const bytes = facts.isFile() ? readFileSync(path, 'latin1') : '';
      return leaksIn(name, `${name} ${bytes}`, secrets).length > 0
        ? [{ name, mode: facts.mode & 0o777 }]
        : [];
    } catch {
      // A database removes files while one looks.
      return [];
    }
  });
}

/** What shows one run of the drill, besides its own reports. */
const SHOWING = [
  ['audit', 'show', '--json'],
  ['audit', 'export', '--out', 'BUNDLE'],
  ['report', '--format', 'html'],
];

/** A key store and a config, to look at them later. */
function laterReader(folder: string): Record<string, string> {
  const passphrase = join(folder, 'passphrase');
  writeFileSync(passphrase, 'four words of mine\n', { mode: 0o600 });
  const config = join(folder, 'lifeboat.yaml');
  const orders = '{ url: https://host/service-instances/x, revision: 62, token: { env: NONE } }';
  writeFileSync(config, `platform: none\ninstances: { orders: ${orders} }\n`);
  return {
    LIFEBOAT_KEYCHAIN: 'vault',
    LIFEBOAT_PASSPHRASE_FILE: passphrase,
    LIFEBOAT_CONFIG: config,
  };
}
