import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type Call, refused, refusedByV0, refusedDownload, type Trouble } from './call.ts';
import { openGate } from './gate.ts';
import { type ForeignBackup, type ForeignInstance, openInstance } from './instance.ts';
import type { ForeignOptions, InstanceSpec, Revision } from './options.ts';
import { pack, unpack } from './pack.ts';
import { callOf, hear, type Place, placeOf } from './request.ts';
import type { Route, World } from './route.ts';
import { openTaskYard } from './tasks.ts';
import { v0Routes } from './v0.ts';
import { v1Routes } from './v1.ts';
import { finish } from './write.ts';

/*
 * A second service, written from service-api.md alone and sharing nothing with the product or its lab:
 * another taste in ids, dates, status words and optional fields. What is written from one document by two
 * hands agrees only where the document does, and that is what the product may lean on.
 */

export interface ForeignServer {
  /** The dashboard address of the first instance, as `cf service` would print it. */
  readonly url: string;
  readonly revision: Revision;
  /** Every request, oldest first; those that are only led to a session are among them. */
  readonly calls: readonly Call[];
  readonly instances: readonly ForeignInstance[];
  /** Throws when there is none of this name. */
  instance(name: string): ForeignInstance;
  /** The dashboard address of an instance by its name. */
  urlOf(name: string): string;
  /** The keys of the first instance. */
  readonly keys: readonly string[];
  /** The backups of the first instance, newest first. */
  readonly backups: readonly ForeignBackup[];
  /** Creates a backup of the first instance as the service's own schedule would. */
  schedule(): Promise<ForeignBackup>;
  /** From now on only this token is accepted. */
  acceptOnly(token: string): void;
  /** Forgets the sessions of the dashboard address. */
  endSessions(): void;
  /** Ends every connection and task. The folder can be removed then. */
  close(): Promise<void>;
}

/**
 * Listens on loopback until it is closed; rejects when the port is taken. What it has is in memory and in
 * `folder`: nothing survives.
 */
export async function startForeignServer(options: ForeignOptions): Promise<ForeignServer> {
  const { folder, revision, taste = 'odd', taskMs = 120, aheadMs = 0, stampsAheadMs = 0 } = options;
  const yard = openTaskYard({ taskMs, aheadMs: aheadMs + stampsAheadMs, taste });
  const gate = openGate(options);
  const calls: Call[] = [];
  const instances: ForeignInstance[] = [];
  for (const [i, spec] of (options.instances ?? defaultInstances(options.key)).entries()) {
    const number = 4 + i * 9;
    const own = join(folder, String(number));
    await mkdir(own);
    instances.push(
      await openInstance(spec, {
        folder: own,
        guid: spec.guid ?? guidOf(spec.name, number, taste === 'odd'),
        number,
        profile: options.profile ?? 'md5',
        yard,
        packing: options.packing ?? { pack, unpack },
        writeWith: () => options.writeWith?.(),
        idsInRow: options.idsInRow ?? false,
      }),
    );
  }
  const first = instances[0];
  if (first === undefined) throw new Error('there is no instance to serve');
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await once(server.listen(options.port ?? 0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const world: World = {
    options,
    instances,
    now: yard.now,
    urlOf: ({ guid }) => `http://127.0.0.1:${port}/service-instances/${guid}`,
  };
  const routes: Readonly<Record<Place['version'], readonly Route[]>> = {
    v0: v0Routes(world),
    v1: revision === 'v0' ? [] : v1Routes(world),
    none: [],
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await hear(request);
    const heard = options.mishear?.(asked) ?? asked;
    const place = placeOf(heard, instances);
    const call = callOf(calls.length + 1, heard, place);
    calls.push(call);
    response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString());
    const trouble = (await options.trouble?.(call)) ?? {};
    const say = (answer: Answer | 'lost') => {
      const said = answer === 'lost' ? answer : (options.twist?.(call, answer, heard) ?? answer);
      finish(call, response, said, trouble);
    };
    if (place.version === 'none' || (place.version === 'v1' && revision === 'v0')) return say(NO_SUCH_PAGE);
    const refuse = refusalsOf(place);
    const right = gate.rightOf(heard);
    if (right === 'none') return say(refuse(401, 'unauthenticated', 'the token is not known'));
    const welcome = place.version === 'v0' ? gate.welcome(heard) : undefined;
    if (welcome !== undefined) {
      const status = call.method === 'GET' ? 302 : 307;
      return say(trouble.answer ?? { status, bytes: Buffer.alloc(0), headers: welcome });
    }

    const route = routes[place.version].find(
      ({ method, path }) => method === call.method && path === place.route,
    );
    const proper = async (): Promise<Answer> => {
      if (route === undefined) return refuse(404, 'notFound', 'no such thing');
      const changes = call.method !== 'GET' && route.onlyReads !== true;
      if (changes && right !== 'all') return refuse(403, 'forbidden', 'this token may only read');
      const { instance, id } = place;
      if (instance === undefined) {
        return refuse(isStrict(place) ? 412 : 404, 'instanceNotFound', 'there is no such instance');
      }
      const { query, body } = heard;
      if (body === 'broken') return refuse(place.version === 'v0' ? 412 : 422, 'notJson', 'no JSON object');
      const headers = heard.headers as Readonly<Record<string, string | undefined>>;
      return route.answer({ instance, id, query, headers, body, wish: trouble.task ?? {} });
    };
    const work = async (): Promise<Answer> => {
      if (trouble.work === false) return { status: 200, body: {} };
      const answer = await proper();
      call.did = answer.status < 300;
      return answer;
    };
    let answer: Answer = { status: 200, body: {} };
    if (trouble.workAfterMs === undefined) answer = await work();
    else yard.later(trouble.workAfterMs, async () => void (await work()));
    if (trouble.answerAfterMs !== undefined) await pause(trouble.answerAfterMs);
    say(trouble.answer ?? answer);
  }

  return {
    url: world.urlOf(first),
    revision,
    calls,
    instances,
    instance: (name) => named(instances, name),
    urlOf: (name) => world.urlOf(named(instances, name)),
    keys: first.keys,
    backups: first.backups,
    schedule: () => first.schedule(),
    acceptOnly: gate.acceptOnly,
    endSessions: gate.endSessions,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await yard.close();
    },
  };
}

function defaultInstances(key: string): readonly InstanceSpec[] {
  return [{ name: 'orders', archiving: true, key, backups: 1 }, { name: 'orders-dr' }];
}

/** An odd service has ids that fit into a path, and that is all. */
function guidOf(name: string, number: number, isOdd: boolean): string {
  return isOdd
    ? `5D0E3A5${number}-${name}.eu~7`
    : `5d0e3a52-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

function named(instances: readonly ForeignInstance[], name: string): ForeignInstance {
  const found = instances.find((instance) => instance.name === name);
  if (found === undefined) throw new Error(`there is no instance ${name}`);
  return found;
}

/** Unknown ids are a 412 for every download, and for all of V0 (sections 4.3 and 4.4). */
function isStrict({ version, route }: Place): boolean {
  return version === 'v0' || route === DOWNLOAD;
}

/** Each base, and the download of V1, has an error body of its own (section 7). */
function refusalsOf({ version, route }: Place) {
  return (status: number, error: string, description: string): Answer => {
    if (version === 'v0') return refusedByV0(status, description);
    return route === DOWNLOAD ? refusedDownload(status, description) : refused(status, error, description);
  };
}

const DOWNLOAD = '/backups/:id/download';

const NO_SUCH_PAGE: Trouble['answer'] & object = {
  status: 404,
  body: '<!doctype html><title>404</title><p>No such page.',
  html: true,
};
