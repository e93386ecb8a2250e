/*
 * The tool `cf` in miniature, for a fallback script that is followed to its end: it does what it is asked at
 * the platform of a lab, modelled on its own source (cloudfoundry/cli, command/v7). Without `--wait` it ends
 * when the platform has taken the wish; binding a bound application says OK and changes nothing; nothing is
 * found without a space. Login and target live in config.json of HOME.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

interface Login {
  readonly api: string;
  readonly token: string;
  readonly space?: string;
}

interface Resource {
  readonly guid: string;
  readonly name: string | null;
}

const FILE = join(process.env['HOME'] ?? '', 'cf.json');
const login = JSON.parse(readFileSync(FILE, 'utf8')) as Login;
const BINDINGS = '/v3/service_credential_bindings';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    wait: { type: 'boolean' },
    org: { type: 'string', short: 'o' },
    space: { type: 'string', short: 's' },
    'binding-name': { type: 'string' },
    parameters: { type: 'string', short: 'c' },
    strategy: { type: 'string' },
    guid: { type: 'string' },
    force: { type: 'boolean', short: 'f' },
  },
});
const [word = '', first = '', second = ''] = positionals;

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  'oauth-token': async () => say(`bearer ${login.token}`),
  target,
  service: async () => say(`name: ${(await found('service_instances', first)).name}`),
  'bind-service': () => create('app', second, first),
  'unbind-service': unbind,
  'create-service-key': () => create('key', first, second),
  'delete-service-key': deleteKey,
  restage,
};

const command = COMMANDS[word];
if (command === undefined) fail(`'${word}' is not a registered command.`);
await command();
say('OK');

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(text: string): never {
  process.stdout.write(`${text}\nFAILED\n`);
  process.exit(1);
}

async function call(method: string, path: string, body?: unknown) {
  const answer = await fetch(new URL(path, login.api), {
    method,
    headers: { authorization: `bearer ${login.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, location: answer.headers.get('location') ?? '' };
}

async function get<T>(path: string): Promise<T> {
  const { status, text } = await call('GET', path);
  if (status !== 200) fail(`${path}: ${text}`);
  return JSON.parse(text) as T;
}

async function target(): Promise<void> {
  const space = await found('spaces', values.space ?? '');
  writeFileSync(FILE, JSON.stringify({ ...login, space: space.guid }));
}

async function found(kind: 'apps' | 'service_instances' | 'spaces', name: string): Promise<Resource> {
  if (kind !== 'spaces' && login.space === undefined) fail('No space targeted, use cf target -s SPACE.');
  const within = kind === 'spaces' ? '' : `&space_guids=${login.space}`;
  const { resources } = await get<{ resources: Resource[] }>(
    `/v3/${kind}?names=${encodeURIComponent(name)}${within}`,
  );
  return resources[0] ?? fail(`'${name}' not found.`);
}

/** What was begun goes on by itself; only who waits sees how it ends. */
async function begun({ status, text, location }: Awaited<ReturnType<typeof call>>): Promise<void> {
  if (status === 422 && text.includes('already bound to the service instance')) return;
  if (status !== 202) fail(text);
  while (values.wait === true) {
    const job = await get<{ state: string; errors: unknown }>(new URL(location).pathname);
    if (job.state === 'COMPLETE') return;
    if (job.state === 'FAILED') fail(JSON.stringify(job.errors));
    await pause(50);
  }
}

async function create(type: 'app' | 'key', instance: string, other: string): Promise<void> {
  const service = { data: { guid: (await found('service_instances', instance)).guid } };
  const app = type === 'key' ? {} : { app: { data: { guid: (await found('apps', other)).guid } } };
  const name = type === 'key' ? other : values['binding-name'];
  const { parameters: file } = values;
  const body = {
    type,
    ...(name === undefined ? {} : { name }),
    ...(values.strategy === undefined ? {} : { strategy: values.strategy }),
    ...(file === undefined ? {} : { parameters: JSON.parse(readFileSync(file, 'utf8')) }),
    relationships: { service_instance: service, ...app },
  };
  await begun(await call('POST', BINDINGS, body));
}

async function unbind(): Promise<void> {
  const [app, instance] = [await found('apps', first), await found('service_instances', second)];
  const query = `type=app&app_guids=${app.guid}&service_instance_guids=${instance.guid}`;
  const { resources } = await get<{ resources: Resource[] }>(`${BINDINGS}?${query}`);
  for (const { guid } of resources)
    if (values.guid === undefined || values.guid === guid)
      await begun(await call('DELETE', `${BINDINGS}/${guid}`));
}

async function deleteKey(): Promise<void> {
  const instance = await found('service_instances', first);
  const query = `type=key&service_instance_guids=${instance.guid}&names=${encodeURIComponent(second)}`;
  const { resources } = await get<{ resources: Resource[] }>(`${BINDINGS}?${query}`);
  for (const { guid } of resources) await begun(await call('DELETE', `${BINDINGS}/${guid}`));
}

async function restage(): Promise<void> {
  const app = await found('apps', first);
  const { resources } = await get<{ resources: Resource[] }>(`/v3/packages?app_guids=${app.guid}`);
  const wish = await call('POST', '/v3/builds', { package: { guid: resources[0]?.guid } });
  const build = await ended<{ guid: string; droplet: Resource | null }>(wish, 'builds', ({ droplet }) =>
    Boolean(droplet),
  );
  const rollOut = await call('POST', '/v3/deployments', {
    ...(values.strategy === undefined ? {} : { strategy: values.strategy }),
    droplet: { guid: build.droplet?.guid },
    relationships: { app: { data: { guid: app.guid } } },
  });
  await ended<{ guid: string; status: { value: string } }>(
    rollOut,
    'deployments',
    ({ status }) => status.value === 'FINALIZED',
  );
}

async function ended<T extends { readonly guid: string }>(
  { status, text }: Awaited<ReturnType<typeof call>>,
  kind: 'builds' | 'deployments',
  isOver: (now: T) => boolean,
): Promise<T> {
  if (status !== 201) fail(text);
  const { guid } = JSON.parse(text) as T;
  for (;;) {
    const now = await get<T>(`/v3/${kind}/${guid}`);
    if (isOver(now)) return now;
    await pause(50);
  }
}
