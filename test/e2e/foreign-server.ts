import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Answer,
  config,
  downloadProblem,
  LEAST_KEY_LENGTH,
  listed,
  ok,
  one,
  overview,
  refused,
} from './foreign-answers.ts';
import { type ForeignBackup, openBackupYard, type Profile } from './foreign-backups.ts';

/*
 * A second service, written from service-api.md alone and sharing nothing with the product or its lab: another taste in
 * ids, dates, status words and optional fields. What is written from one document by two hands agrees only where
 * the document does, and that is what the product may lean on.
 */

/** One request, as it came in. Mutating calls are what the promises are about. */
export interface Call {
  readonly number: number;
  readonly method: string;
  readonly path: string;
  /** SHA-256 of the `encryption_key` of the body. */
  readonly key: string | undefined;
  /** How it was answered; `lost` when the connection was cut instead. Undefined while it is under way. */
  answered: number | 'lost' | undefined;
  /** Whether the work was done. */
  did: boolean;
}

/** What goes wrong with one call. */
export interface Trouble {
  /** False: the work is not done at all. Default true. */
  readonly work?: boolean;
  /** The work is done this much later, when the answer is long gone. */
  readonly workAfterMs?: number;
  readonly answerAfterMs?: number;
  /** A download ends after this many bytes, without any sign that there was more. */
  readonly cutAfter?: number;
  /** `lost`: the connection is cut. Default: the proper answer. */
  readonly answer?: 'lost' | { readonly status: number; readonly body: unknown; readonly html?: boolean };
}

export interface ForeignOptions {
  /** Where backups and the data to back up are kept; exists. */
  readonly folder: string;
  readonly revision: 61 | 62;
  readonly profile?: Profile;
  /** The key that is in force at the start; a backup is made with it. */
  readonly key: string;
  /** The token that is accepted, with or without a scheme word before it. */
  readonly token: string;
  /** How long a backup takes. */
  readonly taskMs?: number;
  /** The key that backups are really written with, when it is not the one in force. */
  readonly writeWith?: () => string | undefined;
  /** Asked at every call when its body is there, before anything is done. */
  readonly trouble?: (call: Call) => Trouble | undefined | Promise<Trouble | undefined>;
}

export interface ForeignServer {
  /** The dashboard address, as `cf service` would print it. */
  readonly url: string;
  readonly revision: 61 | 62;
  readonly calls: readonly Call[];
  /** Every key that took effect, oldest first; the last one is in force. */
  readonly keys: readonly string[];
  readonly backups: readonly ForeignBackup[];
  /** Creates a backup as the service's own schedule would. */
  schedule(): Promise<ForeignBackup>;
  /** From now on only this token is accepted. */
  acceptOnly(token: string): void;
  close(): Promise<void>;
}

const ID = '5D0E3A52-orders.eu~7';
const COOKIE = 'dashboard.sid=s%3Aforeign';

export async function startForeignServer(options: ForeignOptions): Promise<ForeignServer> {
  const { revision, profile = 'md5', taskMs = 120 } = options;
  const calls: Call[] = [];
  const keys = [options.key];
  const inForce = () => keys.at(-1) ?? '';
  let token = options.token;
  const yard = await openBackupYard({
    folder: options.folder,
    profile,
    taskMs,
    key: () => options.writeWith?.() ?? inForce(),
  });
  await yard.create(0);

  const v1 = `/v1/instances/${ID}`;
  const v0 = `/service-instances/${ID}`;
  const routes: readonly (readonly [string, string, (body: Json, id: number) => Answer | Promise<Answer>])[] =
    [
      ['GET', v1, () => ok(overview())],
      ['GET', `${v1}/backups`, () => ok(yard.backups.map((backup) => listed(backup, revision)))],
      ['GET', `${v1}/backups/:id`, (_, id) => one(yard.backups, id, revision)],
      ['GET', `${v1}/backups-config`, () => ok(config())],
      ['PATCH', `${v1}/backups-config`, (body) => setKey(body, keys)],
      ['POST', `${v1}/backups`, () => create()],
    ];
  const downloads = revision === 62 ? `${v0}/backups/:id/download` : `${v1}/backups/:id/download`;

  async function create(): Promise<Answer> {
    if (revision === 61 && yard.isBusy()) return refused(409, 'backupInProgress', 'a backup is running');
    const { id } = await yard.create();
    return {
      status: revision === 61 ? 202 : 200,
      body: { id, message: 'Backup job is queued.', trace: 'f00' },
    };
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const path = (request.url ?? '').split('?')[0] ?? '';
    const secret = body['encryption_key'];
    const call: Call = {
      number: calls.length + 1,
      method: request.method ?? '',
      path,
      key: typeof secret === 'string' ? sha256(secret) : undefined,
      answered: undefined,
      did: false,
    };
    calls.push(call);
    const trouble = (await options.trouble?.(call)) ?? {};
    if (request.headers.authorization?.split(' ').at(-1) !== token) {
      return finish(call, response, refused(401, 'unauthenticated', 'the token is not known', path));
    }
    const work = async () => {
      if (trouble.work === false) return ok({});
      call.did = true;
      const match = routes.find(([method, route]) => method === call.method && fits(route, path));
      return match === undefined
        ? refused(404, 'notFound', 'no such thing', path)
        : match[2](body, idIn(path));
    };
    if (call.method === 'GET' && fits(downloads, path) && trouble.answer === undefined) {
      return download(call, request, response, trouble.cutAfter);
    }
    let proper: Answer = ok({});
    if (trouble.workAfterMs === undefined) proper = await work();
    else setTimeout(() => void work(), trouble.workAfterMs);
    if (trouble.answerAfterMs !== undefined) await pause(trouble.answerAfterMs);
    finish(call, response, trouble.answer ?? proper);
  }

  /** The V0 base keeps a session: without its cookie the first answer is a redirect to the same place. */
  async function download(
    call: Call,
    request: IncomingMessage,
    response: ServerResponse,
    cutAfter?: number,
  ): Promise<void> {
    if (revision === 62 && request.headers.cookie !== COOKIE) {
      call.answered = 302;
      response.writeHead(302, { location: call.path, 'set-cookie': `${COOKIE}; Path=/; HttpOnly` }).end();
      return;
    }
    const file = yard.backups.find(({ id }) => id === idIn(call.path))?.file;
    if (file === undefined) return finish(call, response, { status: 412, body: downloadProblem(revision) });
    call.answered = 200;
    call.did = true;
    response.writeHead(200, { 'content-type': 'application/gzip', 'content-disposition': 'attachment' });
    response.end((await file.bytes()).subarray(0, cutAfter));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/service-instances/${ID}`,
    revision,
    calls,
    keys,
    backups: yard.backups,
    schedule: () => yard.create(),
    acceptOnly: (other) => {
      token = other;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await yard.close();
    },
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

type Json = { readonly [field: string]: unknown };

function finish(call: Call, response: ServerResponse, answer: Answer | Trouble['answer']): void {
  if (answer === 'lost' || answer === undefined) {
    call.answered = 'lost';
    response.destroy();
    return;
  }
  const { status, body } = answer;
  call.answered = status;
  if ('html' in answer && answer.html === true) {
    response.writeHead(status, { 'content-type': 'text/html' }).end(String(body));
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

function setKey(body: Json, keys: string[]): Answer {
  const key = body['encryption_key'];
  if (typeof key !== 'string' || key.length < LEAST_KEY_LENGTH) {
    return refused(422, 'invalidParameters', `encryption_key must have ${LEAST_KEY_LENGTH} characters`);
  }
  keys.push(key);
  return ok({ message: 'Backups configuration updated.' });
}

function fits(route: string, path: string): boolean {
  return route === path.replace(/\/\d+(?=\/|$)/, '/:id');
}

function idIn(path: string): number {
  return Number(/\/backups\/(\d+)/.exec(path)?.[1] ?? Number.NaN);
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}
