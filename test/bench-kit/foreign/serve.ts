import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { Revision } from './options.ts';
import { startForeignServer } from './server.ts';

/*
 * The foreign service for a command line to be tried against:
 *
 * node test/bench-kit/foreign/serve.ts [--revision 61|62|v0] [--port N] [--taste plain|odd] [--task-ms N]
 * [--ranges]
 *
 * Prints one JSON line when it is ready, and is gone with everything it had at SIGTERM or SIGINT.
 */
const { values } = parseArgs({
  options: {
    revision: { type: 'string', default: '62' },
    port: { type: 'string', default: '0' },
    taste: { type: 'string', default: 'odd' },
    'task-ms': { type: 'string', default: '2000' },
    ranges: { type: 'boolean', default: false },
  },
});
const REVISIONS: Readonly<Record<string, Revision>> = { 61: 61, 62: 62, v0: 'v0' };
const revision = REVISIONS[values.revision];
const [port, taskMs] = [Number(values.port), Number(values['task-ms'])];
if (revision === undefined || !/^(?:plain|odd)$/.test(values.taste) || !(port >= 0) || !(taskMs >= 0)) {
  process.stderr.write(
    'usage: serve.ts [--revision 61|62|v0] [--port N] [--taste plain|odd] [--task-ms N] [--ranges]\n',
  );
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'foreign-service-'));
const word = (kind: string) => `${kind}-${randomBytes(12).toString('base64url')}`;
const options = { token: word('tok'), readOnlyToken: word('ro'), key: word('key') };
const server = await startForeignServer({
  ...options,
  folder,
  revision,
  port,
  taskMs,
  taste: values.taste === 'plain' ? 'plain' : 'odd',
  ranges: values.ranges,
});
const instances = Object.fromEntries(server.instances.map(({ name }) => [name, server.urlOf(name)]));
process.stdout.write(`${JSON.stringify({ url: server.url, revision, ...options, instances })}\n`);
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
await server.close();
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
