import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import * as z from 'zod';
import { endpointsOf } from '../../src/lab/http/endpoints.ts';
import { ERROR_BODIES } from '../../src/lab/http/wire.ts';
import type { Lab } from '../../src/lab/lab.ts';
import { Backup, Restore } from '../../src/service/schemas.ts';

export const run = promisify(execFile);

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly json: unknown;
}

export interface CurlAnswer extends Answer {
  /** 0 when an answer came whole; 18 and 52 are curl's words for a short and for no answer. */
  readonly exit: number;
}

type Addressed = Pick<Lab, 'url' | 'tokenFile'>;

interface Sent {
  readonly body?: unknown;
  readonly raw?: string;
  /** With the full token by default; without any when it is empty. */
  readonly authorization?: string;
}

/**
 * Asks a lab and follows redirects, with Node's own client: no code of this project is on the client's side.
 * Rejects without a whole answer.
 */
export async function call(lab: Addressed, method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const { authorization, body } = await headAndBody(lab, sent);
  const answer = await fetch(`${lab.url}${path}`, {
    method,
    headers: {
      ...(authorization === '' ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  const type = answer.headers.get('content-type') ?? '';
  return { status: answer.status, type, text, json: parsed(text) };
}

/** The same with curl, a process for each request, which tells how an answer breaks off. */
export async function curl(
  lab: Addressed,
  method: string,
  path: string,
  sent: Sent = {},
): Promise<CurlAnswer> {
  const { authorization, body } = await headAndBody(lab, sent);
  const args = ['-sS', '-L', '-X', method, '-w', '\n%{http_code} %{content_type}', `${lab.url}${path}`];
  if (authorization !== '') args.push('-H', `Authorization: ${authorization}`);
  if (body !== undefined) args.push('-H', 'Content-Type: application/json', '-d', body);
  const { exit, stdout } = await run('curl', args).then(
    (done) => ({ exit: 0, stdout: done.stdout }),
    (error: { code: number; stdout: string }) => ({ exit: error.code, stdout: error.stdout }),
  );
  const end = stdout.lastIndexOf('\n');
  const text = stdout.slice(0, end);
  const [status, type] = stdout.slice(end + 1).split(' ');
  return { exit, status: Number(status), type: type ?? '', text, json: parsed(text) };
}

async function headAndBody(lab: Addressed, { authorization, body, raw }: Sent) {
  return {
    authorization: authorization ?? `Bearer ${await readFile(lab.tokenFile, 'utf8')}`,
    body: raw ?? (body === undefined ? undefined : JSON.stringify(body)),
  };
}

/**
 * Asks, and holds the answer against what the lab itself says of the endpoint: its status, and its fields, no
 * more and no fewer.
 */
export async function ask(lab: Lab, method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const answer = await call(lab, method, path, sent);
  const endpoint = endpointsOf(lab.revision).find((candidate) => {
    const pattern = `^${candidate.base}/:guid${candidate.path === '/' ? '' : candidate.path}$`;
    const regex = new RegExp(pattern.replaceAll(/:\w+/g, '[^/]+'));
    return candidate.method === method && regex.test(path.split('?')[0] ?? '');
  });
  const declared = endpoint?.answers[lab.revision];
  if (endpoint === undefined || declared?.body === undefined)
    throw new Error(`no endpoint at ${method} ${path}`);
  const what = `${method} ${path} answered ${answer.status} ${answer.text}`;
  if (answer.status < 300) {
    expect(answer.status, what).toBe(declared.status);
    expect(declared.body.parse(answer.json), what).toEqual(answer.json);
  } else {
    const known = [401, 403, 404, 502, endpoint.unknownInstance, ...(endpoint.refuses[lab.revision] ?? [])];
    expect(known, what).toContain(answer.status);
    expect(ERROR_BODIES[endpoint.errors].parse(answer.json), what).toEqual(answer.json);
  }
  return answer;
}

export function instanceOf(lab: Lab, name: string) {
  const instance = lab.instances.find((candidate) => candidate.name === name);
  if (instance === undefined) throw new Error(`no instance ${name}`);
  return { ...instance, v1: `/v1/instances/${instance.guid}`, v0: `/service-instances/${instance.guid}` };
}

export async function listBackups(lab: Lab, name = 'orders') {
  const { json } = await call(lab, 'GET', `${instanceOf(lab, name).v1}/backups`);
  return z.array(Backup).parse(json);
}

/** Waits until a backup has left the queue and the worker; gives it as the list shows it. */
export async function backupEnded(lab: Lab, id: number, name = 'orders') {
  return await until(`backup ${id} of ${name} has ended`, async () => {
    const backup = (await listBackups(lab, name)).find((candidate) => candidate.id === id);
    return backup !== undefined && ['done', 'failed'].includes(backup.status) ? backup : undefined;
  });
}

/** Waits until a restore is over; gives it as the service shows it. */
export async function restoreEnded(lab: Lab, id: number, name = 'orders') {
  return await until(`restore ${id} of ${name} has ended`, async () => {
    const restore = Restore.parse(
      (await call(lab, 'GET', `${instanceOf(lab, name).v1}/restores/${id}`)).json,
    );
    return ['done', 'failed'].includes(restore.status) ? restore : undefined;
  });
}

/** Makes a backup and waits for it. */
export async function backUp(lab: Lab, name = 'orders') {
  const { json } = await call(lab, 'POST', `${instanceOf(lab, name).v1}/backups`);
  const { id } = z.object({ id: z.int() }).parse(json);
  const backup = await backupEnded(lab, id, name);
  expect(backup.status).toBe('done');
  return backup;
}

/** Asks again until there is an answer. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + 40_000; Date.now() < end; await pause(20)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
  }
  throw new Error(`it never came true that ${what}`);
}

/** A folder that goes with the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lab-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** Downloads a backup with curl into a file. */
export async function downloadBackup(lab: Lab, id: number, file: string): Promise<void> {
  const token = await readFile(lab.tokenFile, 'utf8');
  const path = `${instanceOf(lab, 'orders').v0}/backups/${id}/download`;
  await run('curl', ['-sS', '-fL', '-o', file, '-H', `Authorization: ${token}`, `${lab.url}${path}`]);
}

/** The tar inside of a backup, by openssl and gzip. */
export function openTar(file: string, keyFile: string): Readable {
  const script = 'openssl enc -d -aes-256-cbc -md md5 -pass "file:$2" -in "$1" 2>/dev/null | gzip -dc';
  return spawn('sh', ['-c', script, 'sh', file, keyFile], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
