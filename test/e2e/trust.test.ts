import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { runProduct } from '../bench-kit/product.ts';
import { itemsIn } from '../bench-kit/results.ts';
import type { TestBench } from '../bench-kit/test-bench.ts';
import { useBenches } from '../bench-kit/test-bench.ts';

const isRoot = process.getuid?.() === 0;
/** No user of a test machine; its lists know neither the user nor the group. */
const OTHER = 65_533;

describe.skipIf(!isRoot)('files that other users could have written', { concurrent: true }, () => {
  const bench = useBenches();

  /** A checkout with a config whose token command leaves a mark, and commands that are run in it. */
  function checkout({ product, folder, env, server }: TestBench) {
    const yard = join(folder, 'checkout');
    mkdirSync(yard, { mode: 0o755 });
    const config = join(yard, 'lifeboat.yaml');
    const mark = join(yard, 'mark');
    const token = `{ command: "touch ${mark}; cat ${join(folder, 'token')}" }`;
    writeFileSync(
      config,
      `platform: none\ninstances: { orders: { url: "${server.url}", token: ${token} } }\n`,
    );
    const { LIFEBOAT_CONFIG: _, ...rest } = env;
    const run = (
      args: readonly string[],
      more: Readonly<Record<string, string>> = {},
      under: readonly string[] = [],
    ) => runProduct(product, args, { ...rest, ...more }, ['env', '-C', yard, ...under]).ended;
    return { yard, config, run, hasRun: () => existsSync(mark) };
  }

  const LIST = ['backups', 'list', '--instance', 'orders'] as const;

  test.for([
    [
      'of another user',
      (yard: string) => chownSync(join(yard, 'lifeboat.yaml'), OTHER, OTHER),
      `it belongs to another user (${OTHER})`,
    ],
    [
      'that everybody can write',
      (yard: string) => chmodSync(join(yard, 'lifeboat.yaml'), 0o666),
      'everybody can write it',
    ],
    [
      'in a folder of another user',
      (yard: string) => chownSync(yard, OTHER, OTHER),
      `its folder belongs to another user (${OTHER})`,
    ],
    [
      'in a folder that everybody can write',
      (yard: string) => chmodSync(yard, 0o777),
      'everybody can write its folder',
    ],
  ] as const)('runs no command of a config %s, whether found or named', async ([, spoil, says], context) => {
    const { expect } = context;
    const { yard, config, run, hasRun } = checkout(await bench(context));
    spoil(yard);
    const found = await run(LIST);
    const flag = await run(['--config', config, ...LIST]);
    const variable = await run(LIST, { LIFEBOAT_CONFIG: config });
    for (const { code, stderr } of [found, flag, variable]) {
      expect(code, stderr).toBe(2);
      expect(stderr).toContain(`the config ${config} is not used: ${says}`);
      expect(stderr).toMatch(/hint: .*(?:chmod go-w|chown)/);
    }
    const looked = await run(['doctor', '--json']);
    expect(looked.code).toBe(1);
    expect(looked.stdout).toContain(says);
    expect(hasRun()).toBe(false);
  });

  test('your own config in a folder like /tmp is used', async (context) => {
    const { expect } = context;
    const { yard, run, hasRun } = checkout(await bench(context));
    chmodSync(yard, 0o1777);
    const { code, stderr } = await run(LIST);
    expect(code, stderr).toBe(0);
    expect(hasRun()).toBe(true);
  });

  test('a checkout made with umask 002 is used by its user, and not by root', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const { yard, config, run, hasRun } = checkout(opened);
    for (const path of [
      opened.folder,
      yard,
      opened.tokenFile,
      join(opened.folder, 'passphrase'),
      config,
      opened.home,
    ])
      chownSync(path, OTHER, OTHER);
    for (const name of readdirSync(opened.home)) chownSync(join(opened.home, name), OTHER, OTHER);
    chmodSync(yard, 0o775);
    chmodSync(config, 0o664);
    const own = ['setpriv', `--reuid=${OTHER}`, `--regid=${OTHER}`, '--clear-groups'];
    const reads = spawnSync(own[0] ?? '', [
      ...own.slice(1),
      process.execPath,
      opened.product.cli,
      '--version',
    ]);
    if (reads.status !== 0) context.skip('another user cannot reach this checkout');
    const root = await run(LIST);
    expect(root.stderr).toContain('hint: run lifeboat as that user, not as root');
    expect(hasRun()).toBe(false);
    const user = await run(LIST, {}, own);
    expect(user.code, user.stderr).toBe(0);
    expect(hasRun()).toBe(true);
  });

  test.for([
    [
      'of another user',
      (home: string) => chownSync(home, OTHER, OTHER),
      `it belongs to another user (${OTHER})`,
    ],
    ['that everybody can write', (home: string) => chmodSync(home, 0o777), 'everybody can write it'],
  ] as const)(
    'a home %s is neither written nor read, and doctor names it',
    async ([, spoil, says], context) => {
      const { expect } = context;
      const { home, here, run, server, rotate } = await bench(context);
      const before = readdirSync(home);
      spoil(home);
      const ended = [
        await rotate(),
        await here('runs'),
        await here('keys', 'list'),
        await here('audit', 'verify'),
      ];
      for (const { code, stderr } of ended) {
        expect(code, stderr).toBe(2);
        expect(stderr).toContain(`the home ${home} is not used: ${says}`);
      }
      const looked = await run('doctor', '--json');
      expect(looked.code).toBe(1);
      expect(checksIn(looked.stdout).find(({ what }) => what === 'home')).toMatchObject({ state: 'bad' });
      expect(readdirSync(home)).toEqual(before);
      expect(server.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
    },
  );

  test('doctor names each file that affects decisions and that others could have written', async (context) => {
    const { expect } = context;
    const { folder, home, env, run, tokenFile } = await bench(context);
    const at = (name: string) => join(folder, name);
    for (const name of ['ca.pem', 'approvers', 'revoked']) writeFileSync(at(name), '', { mode: 0o666 });
    for (const name of ['runbooks', 'shared']) mkdirSync(at(name));
    for (const name of ['ca.pem', 'approvers', 'revoked', 'runbooks', 'shared']) chmodSync(at(name), 0o777);
    chmodSync(tokenFile, 0o644);
    chownSync(at('passphrase'), OTHER, OTHER);
    chownSync(join(home, 'vault.age'), OTHER, OTHER);
    const config = env['LIFEBOAT_CONFIG'] ?? '';
    const yaml = readFileSync(config, 'utf8').replaceAll('    revision', '    ca: ./ca.pem\n    revision');
    writeFileSync(
      config,
      `runbooks: ./runbooks\ncheckpoints: [./shared]\napprovals: { allowedSigners: ./approvers, revoked: ./revoked, required: none }\n${yaml}`,
    );
    const { stdout } = await run('doctor', '--json');
    const found = checksIn(stdout).filter(({ what }) => what.startsWith('files: '));
    expect(found.map(({ what, state }) => `${what} ${state}`)).toEqual([
      'files: vault bad',
      'files: passphrase file bad',
      'files: token file warn',
      'files: ca file bad',
      'files: allowed signers bad',
      'files: revoked keys bad',
      'files: runbooks bad',
      'files: checkpoints warn',
    ]);
  });

  test('a token of another user is not sent', async (context) => {
    const { expect } = context;
    const { tokenFile, run, server } = await bench(context);
    chownSync(tokenFile, OTHER, OTHER);
    const { code, stderr } = await run(...LIST);
    expect(code, stderr).toBe(4);
    expect(stderr).toContain(
      `the token file ${tokenFile} is not used: it belongs to another user (${OTHER})`,
    );
    expect(server.calls).toEqual([]);
  });

  test('a folder of the home that links elsewhere is not written to', async (context) => {
    const { expect } = context;
    const { home, folder, rotate } = await bench(context);
    expect((await rotate()).code).toBe(0);
    const before = readdirSync(join(home, 'checkpoints'), { recursive: true });
    const elsewhere = join(folder, 'elsewhere');
    renameSync(join(home, 'checkpoints'), elsewhere);
    symlinkSync(elsewhere, join(home, 'checkpoints'));
    const { code, stderr } = await rotate();
    expect(code, stderr).toBe(2);
    expect(stderr).toContain('it is a symbolic link inside the home');
    expect(readdirSync(elsewhere, { recursive: true })).toEqual(before);
  });
});

function checksIn(stdout: string) {
  return itemsIn<{ readonly what: string; readonly state: string; readonly found: string }>(stdout);
}
