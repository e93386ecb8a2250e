import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import type { CommandContext } from '../../../src/cli/context.ts';
import { fleetLoader } from '../../../src/commands/app/load-fleet.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { Fleet } from '../../../src/view/app/sources.ts';

const PLAN = `plan: west
groups:
  - id: data
    for: { name: orders }
    steps: [{ id: seen, check: { command: ["true"] } }]
`;

/** A home with an instance and a plan of it. Its service answers nothing before it is told to. */
async function openHome() {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-fleet-'));
  const waiting: ServerResponse[] = [];
  const server = createServer((_, response) => void waiting.push(response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(home, { recursive: true });
  });
  const { port } = server.address() as AddressInfo;
  writeFileSync(join(home, 'token'), 'bearer a-token\n', { mode: 0o600 });
  writeFileSync(
    join(home, 'lifeboat.yaml'),
    `instances:
  orders:
    url: http://127.0.0.1:${port}/service-instances/1
    revision: 62
    token: { file: ${join(home, 'token')} }
`,
  );
  mkdirSync(join(home, 'plans'));
  writeFileSync(join(home, 'plans', 'west.yaml'), PLAN);
  const env = { HOME: home, LIFEBOAT_HOME: join(home, 'state'), LIFEBOAT_KEYCHAIN: 'memory' };
  const configPath = join(home, 'lifeboat.yaml');
  const context = { env, configPath, stdin: Readable.from([]) } as unknown as CommandContext;
  const load = fleetLoader(context, await loadConfig(env, configPath));
  return { load, waiting };
}

test('a plan is listed before its instances have answered, and stays while they are asked again', async () => {
  const { load, waiting } = await openHome();
  for (const round of ['first', 'second']) {
    const told: Fleet[] = [];
    const leave = new AbortController();
    const loading = Promise.resolve(load(null, (fleet) => void told.push(fleet), leave.signal));
    await expect.poll(() => waiting.length).toBeGreaterThan(0);
    expect(told.at(-1)).toMatchObject({ answered: 0, plans: [{ plan: 'west' }] });
    if (round === 'second') expect(told[0]).toMatchObject({ plans: [{ plan: 'west' }] });
    leave.abort();
    for (const response of waiting.splice(0)) response.writeHead(502).end();
    await loading.catch(() => undefined);
  }
});
