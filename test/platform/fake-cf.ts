/*
 * The tool `cf` in miniature, after its own source (cloudfoundry/cli, command/v7): login and target live in
 * config.json of CF_HOME, `curl` ends with 0 whatever the status is, and binding a bound application says OK.
 * Every command is noted in the file that the login names, with the environment it saw.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';

interface Login {
  readonly Target: string;
  readonly AccessToken: string;
  readonly Log: string;
  OrganizationFields?: { readonly Name: string };
  SpaceFields?: { readonly Name: string };
}

const file = join(process.env['CF_HOME'] ?? process.env['HOME'] ?? '', '.cf', 'config.json');
const login = JSON.parse(readFileSync(file, 'utf8')) as Login;
const [word = '', ...args] = process.argv.slice(2);
const target = `${login.OrganizationFields?.Name ?? '-'}/${login.SpaceFields?.Name ?? '-'}`;
const option = (name: string) => args[args.indexOf(name) + 1] ?? '';
const note = { word, args, target, sees: process.env['SECRET_OF_ANOTHER'] ?? null };
appendFileSync(login.Log, `${JSON.stringify(note)}\n`);

if (login.AccessToken === '') fail("Not logged in. Use 'cf login' or 'cf login --sso' to log in.");
if (word === 'oauth-token') say(login.AccessToken);
else if (word === 'api') say(`API endpoint:   ${login.Target}\nAPI version:    3.195.0`);
else if (word === 'target') {
  const fields = { OrganizationFields: { Name: option('-o') }, SpaceFields: { Name: option('-s') } };
  writeFileSync(file, JSON.stringify({ ...login, ...fields }));
  say('OK');
} else if (word === 'curl') await curl(args.at(-1) ?? '');
else if (word === 'bind-service') await bind();
else if (word === 'unbind-service') await unbind();
else if (word === 'restage' || word === 'restart') await restage();
else if (word === 'delete-service-key') await deleteKey();
else if (word === 'create-service-key') await createKey();
else fail(`'${word}' is not a registered command.`);

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.stdout.write('FAILED\n');
  process.exit(1);
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: Record<string, never>;
  readonly location: string;
}

function call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer> {
  const headers = { authorization: login.AccessToken, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(`${login.Target}${path}`, { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const json = (text === '' ? {} : JSON.parse(text)) as Record<string, never>;
        resolve({ status: answer.statusCode ?? 0, text, json, location: answer.headers.location ?? '' });
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function curl(path: string): Promise<void> {
  const { status, text } = await call('GET', path);
  say(`HTTP/1.1 ${status} Status\r\nDate: ${new Date().toUTCString()}\r\n\r\n${text}`);
}

async function guidOf(kind: string, name: string): Promise<string> {
  for (let page = 1; ; page += 1) {
    const { json } = await call('GET', `/v3/${kind}?names=${encodeURIComponent(name)}&page=${page}`);
    const { resources, pagination } = json as unknown as {
      resources: { guid: string; name: string }[];
      pagination: { next: unknown };
    };
    const found = resources.find((one) => one.name === name);
    if (found !== undefined) return found.guid;
    if (pagination.next === null) fail(`${kind} '${name}' not found`);
  }
}

async function end(location: string): Promise<void> {
  for (;;) {
    const { json } = await call('GET', new URL(location).pathname);
    const job = json as unknown as { state: string; errors: { detail: string }[] };
    if (job.state === 'COMPLETE') return say('OK');
    if (job.state === 'FAILED') fail(`Job failed: ${job.errors[0]?.detail ?? ''}`);
  }
}

async function bind(): Promise<void> {
  const [app = '', instance = ''] = args;
  const name = args.find((arg) => arg.startsWith('--binding-name='))?.split('=')[1];
  const parameters = args.includes('-c') ? JSON.parse(readFileSync(option('-c'), 'utf8')) : undefined;
  const answer = await call('POST', '/v3/service_credential_bindings', {
    type: 'app',
    ...(name === undefined ? {} : { name }),
    parameters,
    relationships: {
      app: { data: { guid: await guidOf('apps', app) } },
      service_instance: { data: { guid: await guidOf('service_instances', instance) } },
    },
  });
  if (answer.status === 202) return end(answer.location);
  if (answer.text.includes('already bound')) {
    return say(`App ${app} is already bound to service instance ${instance}.\nOK`);
  }
  fail(answer.text);
}

async function unbind(): Promise<void> {
  const [app = '', instance = ''] = args;
  const query = `app_guids=${await guidOf('apps', app)}&service_instance_guids=${await guidOf('service_instances', instance)}`;
  const { json } = await call('GET', `/v3/service_credential_bindings?type=app&${query}`);
  for (const { guid } of (json as unknown as { resources: { guid: string }[] }).resources) {
    if (args.includes('--guid') && option('--guid') !== guid) continue;
    await end((await call('DELETE', `/v3/service_credential_bindings/${guid}`)).location);
  }
}

async function restage(): Promise<void> {
  const app = await guidOf('apps', args[0] ?? '');
  let droplet: string | undefined;
  if (word === 'restage') {
    const built = await call('POST', '/v3/builds', { package: { guid: `package-of-${app}` } });
    const { guid } = built.json as unknown as { guid: string };
    await call('GET', `/v3/builds/${guid}`);
    const staged = (await call('GET', `/v3/builds/${guid}`)).json as unknown as {
      droplet: { guid: string } | null;
    };
    droplet = staged.droplet?.guid ?? fail('Error staging application: NoAppDetectedError');
  }
  await call('POST', '/v3/deployments', {
    strategy: 'rolling',
    ...(droplet === undefined ? {} : { droplet: { guid: droplet } }),
    relationships: { app: { data: { guid: app } } },
  });
  await call('GET', '/v3/info');
  say('OK');
}

async function deleteKey(): Promise<void> {
  const guid = await guidOf('service_credential_bindings', args[1] ?? '');
  await end((await call('DELETE', `/v3/service_credential_bindings/${guid}`)).location);
}

async function createKey(): Promise<void> {
  const [instance = '', name = ''] = args;
  const guid = await guidOf('service_instances', instance);
  const relationships = { service_instance: { data: { guid } } };
  await end(
    (await call('POST', '/v3/service_credential_bindings', { type: 'key', name, relationships })).location,
  );
}
