import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

/*
 * The tool `cf`, as its public source behaves (cloudfoundry/cli, command/v7): the login and the target are in
 * config.json below CF_HOME, everything goes by name in the target's space, `curl` ends with 0 whatever the
 * status is, unbinding what is not bound and binding what is bound are OK, errors go to stderr with FAILED on
 * stdout and exit 1. Without `--wait` a command ends when the platform has accepted it. Nothing that it makes
 * has a label.
 *
 * A login that names a `Log` has every call written to it, with the environment that the tool saw.
 */

interface Resource {
  readonly guid: string;
  readonly name: string | null;
  readonly [field: string]: unknown;
}

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly json: { readonly resources?: Resource[]; readonly [field: string]: unknown };
  readonly head: string;
  readonly location: string | undefined;
}

interface Login {
  readonly Target: string;
  readonly AccessToken: string;
  readonly Log?: string;
  readonly OrganizationFields?: { readonly Name: string };
  readonly SpaceFields?: { readonly GUID: string; readonly Name: string };
}

const FILE = join(process.env['CF_HOME'] ?? process.env['HOME'] ?? '', '.cf', 'config.json');
const login = JSON.parse(readFileSync(FILE, 'utf8')) as Login;
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    organization: { type: 'string', short: 'o' },
    space: { type: 'string', short: 's' },
    'binding-name': { type: 'string' },
    parameters: { type: 'string', short: 'c' },
    strategy: { type: 'string' },
    guid: { type: 'string' },
    force: { type: 'boolean', short: 'f' },
    wait: { type: 'boolean', short: 'w' },
    include: { type: 'boolean', short: 'i' },
    method: { type: 'string', short: 'X' },
    data: { type: 'string', short: 'd' },
  },
});
const [word = '', first = '', second = ''] = positionals;
const BINDINGS = '/v3/service_credential_bindings';

if (login.Log !== undefined) {
  const target = `${login.OrganizationFields?.Name ?? '-'}/${login.SpaceFields?.Name ?? '-'}`;
  const sees = process.env['SECRET_OF_ANOTHER'] ?? null;
  appendFileSync(login.Log, `${JSON.stringify({ word, args: process.argv.slice(3), target, sees })}\n`);
}
if (login.AccessToken === '') fail("Not logged in. Use 'cf login' or 'cf login --sso' to log in.");
if (word === 'oauth-token') say(login.AccessToken);
else if (word === 'api') say(`API endpoint:   ${login.Target}\nAPI version:    3.200.0\n`);
else if (word === 'target') await target();
else if (word === 'curl') await curl();
else if (word === 'service') say(`name: ${(await one('service_instances', first)).name}`);
else if (word === 'bind-service')
  await bind(await one('apps', first), await one('service_instances', second));
else if (word === 'unbind-service')
  await unbind(await one('apps', first), await one('service_instances', second));
else if (word === 'restage') await rollOut(await one('apps', first), true);
else if (word === 'restart') await rollOut(await one('apps', first), false);
else if (word === 'delete-service-key') await dropKey(await one('service_instances', first));
else if (word === 'create-service-key') await makeKey(await one('service_instances', first));
else fail(`'${word}' is not a registered command. See 'cf help -a'`);

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(text: string): never {
  process.stdout.write('FAILED\n');
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

/**
 * One request over HTTP 1.0, whose answer ends with the connection. Node's own HTTP client takes longer to
 * load than all the rest of a call takes.
 */
async function call(method: string, path: string, body?: unknown): Promise<Reply> {
  const { host, hostname, port, pathname, search } = new URL(path, login.Target);
  const text = body === undefined || typeof body === 'string' ? (body ?? '') : JSON.stringify(body);
  const socket = connect(Number(port), hostname);
  socket.write(
    [
      `${method} ${pathname}${search} HTTP/1.0`,
      `host: ${host}`,
      `authorization: ${login.AccessToken}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(text)}`,
      `\r\n${text}`,
    ].join('\r\n'),
  );
  let said = '';
  try {
    for await (const chunk of socket.setEncoding('utf8')) said += chunk;
  } catch {
    said = '';
  }
  const end = said.indexOf('\r\n\r\n');
  if (end < 0) fail(`Request error: Get "${login.Target}${path}": dial tcp: connection refused`);
  const [head, answer] = [said.slice(0, end), said.slice(end + 4)];
  return {
    status: Number(head.split(' ')[1]),
    text: answer,
    json: answer.startsWith('{') ? (JSON.parse(answer) as Reply['json']) : {},
    head: head.slice(head.indexOf('\r\n') + 2),
    location: /^location: (.*)$/imu.exec(head)?.[1],
  };
}

async function good(method: string, path: string, body?: unknown): Promise<Reply> {
  const reply = await call(method, path, body);
  if (reply.status < 300) return reply;
  const errors = (reply.json['errors'] ?? []) as { detail?: string }[];
  return fail(errors.map(({ detail }) => detail).join('\n'));
}

async function all(path: string): Promise<Resource[]> {
  const found: Resource[] = [];
  for (let page = 1; ; page += 1) {
    const { json } = await good('GET', `${path}${path.includes('?') ? '&' : '?'}page=${page}`);
    found.push(...(json.resources ?? []));
    if ((json['pagination'] as { next: unknown }).next === null) return found;
  }
}

async function one(kind: string, name: string): Promise<Resource> {
  const space = login.SpaceFields?.GUID;
  if (space === undefined) fail("No org and space targeted, use 'cf target -o ORG -s SPACE'");
  const named = await all(`/v3/${kind}?names=${encodeURIComponent(name)}`);
  const where = (found: Resource) =>
    (found['relationships'] as { space: { data: Resource } }).space.data.guid;
  // An instance of another space is shared into this one.
  const [found] = named.filter((each) => kind !== 'apps' || where(each) === space);
  return found ?? fail(`${kind === 'apps' ? 'App' : 'Service instance'} '${name}' not found.`);
}

async function target(): Promise<void> {
  const [org] = await all(`/v3/organizations?names=${encodeURIComponent(values.organization ?? '')}`);
  if (org === undefined) return fail(`Organization '${values.organization}' not found.`);
  const within = `organization_guids=${org.guid}`;
  const [space] = await all(`/v3/spaces?names=${encodeURIComponent(values.space ?? '')}&${within}`);
  if (space === undefined) return fail(`Space '${values.space}' not found.`);
  const fields = {
    OrganizationFields: { GUID: org.guid, Name: org.name },
    SpaceFields: { GUID: space.guid, Name: space.name },
  };
  writeFileSync(FILE, JSON.stringify({ ...login, ...fields }));
  say(`API endpoint:   ${login.Target}\norg:            ${org.name}\nspace:          ${space.name}`);
}

async function curl(): Promise<void> {
  const { data } = values;
  const method = values.method ?? (data === undefined ? 'GET' : 'POST');
  const { status, text, head } = await call(method, first, data);
  say(values.include === true ? `HTTP/1.1 ${status} OK\r\n${head}\r\n\r\n${text}` : text);
}

async function bind(app: Resource, instance: Resource): Promise<void> {
  const { strategy, 'binding-name': name } = values;
  const reply = await call('POST', BINDINGS, {
    type: 'app',
    ...(name === undefined ? {} : { name }),
    ...(strategy === undefined ? {} : { strategy }),
    ...parameters(),
    relationships: { app: { data: { guid: app.guid } }, service_instance: { data: { guid: instance.guid } } },
  });
  if (reply.text.includes('already bound')) return say('App is already bound to service instance.\nOK');
  if (reply.status >= 300) fail(((reply.json['errors'] ?? []) as { detail: string }[])[0]?.detail ?? '');
  await finished(reply);
}

async function unbind(app: Resource, instance: Resource): Promise<void> {
  const pair = await all(
    `${BINDINGS}?type=app&app_guids=${app.guid}&service_instance_guids=${instance.guid}`,
  );
  const meant = pair.filter(({ guid }) => values.guid === undefined || guid === values.guid);
  if (meant.length === 0) say('Binding did not exist');
  for (const { guid } of meant) await finished(await good('DELETE', `${BINDINGS}/${guid}`));
  say('OK');
}

async function rollOut(app: Resource, stage: boolean): Promise<void> {
  let droplet: unknown;
  if (stage) {
    const [newest] = await all(`/v3/packages?app_guids=${app.guid}&states=READY`);
    const begun = await good('POST', '/v3/builds', { package: { guid: newest?.guid } });
    const build = await until(`/v3/builds/${begun.json['guid']}`, (json) => json['state'] !== 'STAGING');
    if (build['state'] === 'FAILED') fail(`Error staging application: ${build['error']}`);
    droplet = { guid: (build['droplet'] as Resource).guid };
  }
  const relationships = { app: { data: { guid: app.guid } } };
  const begun = await good('POST', '/v3/deployments', { droplet, strategy: values.strategy, relationships });
  const reasonOf = (json: Reply['json']) =>
    (json['status'] as { value: string; reason: string } | undefined) ?? null;
  const path = `/v3/deployments/${begun.json['guid']}`;
  const ended = await until(path, (json) => reasonOf(json)?.value === 'FINALIZED');
  if (reasonOf(ended)?.reason !== 'DEPLOYED') fail('Deployment has been canceled');
  say('OK');
}

async function dropKey(instance: Resource): Promise<void> {
  const found = await all(`${BINDINGS}?type=key&service_instance_guids=${instance.guid}&names=${second}`);
  if (found[0] === undefined) return say(`Service key ${second} does not exist.\nOK`);
  await finished(await good('DELETE', `${BINDINGS}/${found[0].guid}`));
}

async function makeKey(instance: Resource): Promise<void> {
  const relationships = { service_instance: { data: { guid: instance.guid } } };
  await finished(await good('POST', BINDINGS, { type: 'key', name: second, ...parameters(), relationships }));
}

function parameters(): object {
  const { parameters: file } = values;
  return file === undefined ? {} : { parameters: JSON.parse(readFileSync(file, 'utf8')) as object };
}

async function finished({ location }: Reply): Promise<void> {
  if (values.wait === true && location !== undefined) {
    // Whatever host the platform names, this one goes to its own.
    const job = await until(
      new URL(location).pathname,
      ({ state }) => state === 'COMPLETE' || state === 'FAILED',
    );
    if (job['state'] === 'FAILED') fail(`Job failed: ${(job['errors'] as { detail: string }[])[0]?.detail}`);
  }
  say('OK');
}

async function until(path: string, isOver: (json: Reply['json']) => boolean): Promise<Reply['json']> {
  for (;;) {
    const { json } = await good('GET', path);
    if (isOver(json)) return json;
    await pause(20);
  }
}
