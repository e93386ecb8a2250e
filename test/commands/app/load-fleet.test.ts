import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { CommandContext } from '../../../src/cli/context.ts';
import { fleetLoader } from '../../../src/commands/app/load-fleet.ts';
import { parseConfig } from '../../../src/config/load.ts';
import type { FleetRow } from '../../../src/view/app/fleet-row.ts';
import type { Fleet } from '../../../src/view/app/sources.ts';

const SOURCES = 60;

/** A config of sources, each with its target, at a service that knows none of them. */
async function manyInstances() {
  const server = createServer((_, response) => response.writeHead(404).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-many-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => ({
    url: `http://127.0.0.1:${port}/service-instances/${name}`,
    revision: 62,
    token: { env: 'PATH' },
  });
  const names = Array.from({ length: SOURCES }, (_, index) => `db-${index}`);
  const instances = Object.fromEntries(
    names.flatMap((name) => [
      [name, { ...at(name), target: `${name}-dr` }],
      [`${name}-dr`, { ...at(`${name}-dr`), role: 'target' }],
    ]),
  );
  const config = parseConfig(JSON.stringify({ instances }), join(folder, 'lifeboat.yaml'));
  const context = { env: { LIFEBOAT_HOME: join(folder, 'home') } } as unknown as CommandContext;
  return { context, config, count: 2 * SOURCES };
}

test('each answer updates the verdict of its instance and of its source, and not of the whole board', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { context, config, count } = await manyInstances();
  const judged = new Set<FleetRow>();
  let last: Fleet | undefined;
  const emit = (fleet: Fleet) => {
    last = fleet;
    const drawn = fleet.instancesAt?.(new Date()) ?? [];
    for (const row of [...fleet.instances, ...drawn]) judged.add(row);
  };
  await fleetLoader(context, config)(null, emit, new AbortController().signal);
  expect(last?.answered).toBe(count);
  expect(last?.instances).toHaveLength(count);
  expect(last?.instances.filter(({ notFound }) => notFound === undefined)).toEqual([]);
  // Unasked, with the record, with its answer, and with that of its target.
  expect(judged.size).toBeLessThanOrEqual(4 * count);
  expect(last?.instancesAt?.(new Date())).toEqual(last?.instances);
});
