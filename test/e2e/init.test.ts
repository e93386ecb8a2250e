import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/load.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import { personAt } from '../bench-kit/person.ts';
import { usePlatformBenches } from '../bench-kit/platform-bench.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';

const CTRL_C = '\u0003';

/** Files below a folder that `init` could have made. */
function made(folder: string): string[] {
  return readdirSync(folder).filter((name) => /new\.yaml|schema|part/u.test(name));
}

describe('lifeboat init without a terminal', () => {
  const bench = usePlatformBenches();

  test('writes what cf shows and the service answers, and writes nothing the second time', async (context) => {
    const { expect } = context;
    const { run, folder, tokenFile, server, capi, installCf } = await bench(context);
    installCf(true);
    const path = join(folder, 'new.yaml');
    const words = ['init', '--yes', '--config', path, '--token-file', tokenFile];
    const first = await run(...words, '-o', 'json');
    expect(first.code, first.stderr).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({
      schema: 'lifeboat.init/1',
      written: true,
      replaced: false,
      keyStore: 'vault',
      instances: [
        { name: 'orders-db', revision: '62' },
        { name: 'orders-dr-db', revision: '62' },
      ],
    });
    const text = readFileSync(path, 'utf8');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(Object.values(parseConfig(text, path).instances)).toMatchObject([
      { url: `${server.urlOf('orders')}/`, revision: 62, token: { file: tokenFile } },
      { url: `${server.urlOf('orders-dr')}/` },
    ]);
    const [, schema = ''] = /^# yaml-language-server: \$schema=\.\/(.*)$/mu.exec(text) ?? [];
    expect(JSON.parse(readFileSync(join(folder, schema), 'utf8'))).toMatchObject({
      $id: 'https://lifeboat.invalid/schemas/config/1',
    });
    for (const canary of Object.values(CANARIES))
      expect(text + first.stdout + first.stderr).not.toContain(canary);
    expect(server.calls.every(({ method }) => method === 'GET')).toBe(true);
    expect(capi.wishes).toEqual([]);

    writeFileSync(path, 'mine');
    const again = await run(...words);
    expect(again.code, again.stderr).toBe(2);
    expect(again.stderr).toContain('already exists');
    expect(readFileSync(path, 'utf8')).toBe('mine');
    const replaced = await run(...words, '--confirm', 'new.yaml', '-o', 'yaml');
    expect(parse(replaced.stdout), replaced.stderr).toMatchObject({ written: true, replaced: true });
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test('writes nothing when the token is refused, unless told to', async (context) => {
    const { expect } = context;
    const { run, folder, server, tokenFile } = await bench(context);
    writeFileSync(tokenFile, `${CANARIES.otherToken}\n`, { mode: 0o600 });
    const one = ['--url', server.urlOf('orders'), '--name', 'orders', '--token-file', tokenFile];
    const words = ['init', ...one, '--config', join(folder, 'new.yaml')];
    const refused = await run(...words);
    expect(refused.code, refused.stderr).toBe(4);
    expect(made(folder)).toEqual([]);
    expect(refused.stderr).toContain('--untested');
    const wanted = await run(...words, '--untested');
    expect(wanted.code, wanted.stderr).toBe(0);
    expect(readFileSync(join(folder, 'new.yaml'), 'utf8')).toContain('revision: auto');
  });

  test('stops at a signal while a service does not answer, and writes nothing', async (context) => {
    const { expect } = context;
    const { start, folder, tokenFile } = await bench(context);
    const silent = createServer().listen(0, '127.0.0.1');
    context.onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/service-instances/x`;
    const one = ['--url', url, '--name', 'orders', '--token-file', tokenFile];
    const running = start('init', ...one, '--config', join(folder, 'new.yaml'));
    await once(silent, 'connection');
    running.child.kill('SIGINT');
    const { code, stderr } = await running.ended;
    expect(code, stderr).toBe(130);
    expect(made(folder)).toEqual([]);
  });

  test('names what is missing when it cannot ask', async (context) => {
    const { run, folder } = await bench(context);
    const nobody = await run('init', '--config', join(folder, 'new.yaml'), '-o', 'json');
    context.expect(nobody.code).toBe(2);
    context.expect(JSON.parse(nobody.stderr)).toMatchObject({
      code: 'init.unnamed',
      hints: context.expect.arrayContaining([context.expect.stringContaining('--url')]),
    });
    context.expect(made(folder)).toEqual([]);
  });
});

describe.skipIf(!hasTerminal())('lifeboat init in a terminal', () => {
  const bench = usePlatformBenches();

  test('asks, checks the answers, and writes only at the end', async (context) => {
    const { expect, onTestFinished } = context;
    const { product, env, folder, tokenFile, installCf } = await bench(context);
    installCf(true);
    const path = join(folder, 'new.yaml');
    const open = () => {
      const screen = personAt(openTerminal(product, { env }, ['init', '--config', path]), expect);
      onTestFinished(() => screen.close());
      return screen;
    };

    const left = open();
    await left.shows('Which instances?');
    await left.shows('orders-db  (acme/prod)');
    left.type(KEYS.enter);
    await left.shows('Where does the access token come from?');
    left.type(CTRL_C);
    await left.isGivenBack(130);
    expect(left.text()).toContain('nothing was written');
    expect(made(folder)).toEqual([]);

    // Read in one piece, as it comes from a slow line.
    const escaped = open();
    await escaped.shows('Which instances?');
    escaped.type(`${KEYS.escape}${KEYS.enter}`);
    await escaped.isGivenBack(130);
    expect(made(folder)).toEqual([]);

    writeFileSync(path, 'mine');
    const screen = open();
    await screen.shows('Type new.yaml to replace it');
    screen.type(`lifeboat.yaml${KEYS.enter}`);
    await screen.shows('that is not its name');
    screen.type(`${KEYS.clear}new.yaml${KEYS.enter}`);
    await screen.shows('Which instances?');
    screen.type(`${KEYS.down} ${KEYS.enter}`);
    await screen.shows('Where does the access token come from?');
    screen.type(KEYS.up);
    screen.type(`${KEYS.down}${KEYS.down}${KEYS.down}${KEYS.enter}`);
    await screen.shows('The path of the file:');
    screen.type(`${tokenFile}${KEYS.enter}`);
    await screen.shows('is written, with 1 instance');
    await screen.isGivenBack(0);
    expect(Object.keys(parseConfig(readFileSync(path, 'utf8'), path).instances)).toEqual(['orders-db']);
    expect(existsSync(join(folder, 'lifeboat.schema.json'))).toBe(true);
    for (const canary of Object.values(CANARIES)) expect(screen.bytes()).not.toContain(canary);
  });
});
