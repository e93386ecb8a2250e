import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Call, Heard } from './call.ts';
import type { ForeignInstance } from './instance.ts';

/** What a path means. */
export interface Place {
  readonly version: 'v0' | 'v1' | 'none';
  /** What follows the instance, with `:id` for a backup's or a restore's id. */
  readonly route: string;
  /** Undefined when there is none with the id in the path. */
  readonly instance: ForeignInstance | undefined;
  /** NaN when the path has none, or one that is no whole number. */
  readonly id: number;
}

export function placeOf({ path }: Heard, instances: readonly ForeignInstance[]): Place {
  const { base, guid, rest = '' } = PATH.exec(path)?.groups ?? {};
  const id = ID.exec(rest)?.[2];
  return {
    version: base === undefined ? 'none' : base === 'service-instances' ? 'v0' : 'v1',
    route: rest.replace(ID, '/$1/:id'),
    instance: instances.find((instance) => instance.guid === decoded(guid ?? '')),
    id: id !== undefined && /^\d+$/.test(id) ? Number(id) : Number.NaN,
  };
}

const PATH = /^\/(?<base>v1\/instances|service-instances)\/(?<guid>[^/]+)(?<rest>\/.*)?$/;
const ID = /^\/(backups|restores)\/(?!restore$)([^/]+)/;

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export async function hear(request: IncomingMessage): Promise<Heard> {
  const { method = '', url = '', headers } = request;
  const [path = '', search = ''] = url.split('?');
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = bodyOf(Buffer.concat(chunks).toString(), headers['content-type']);
  return { method, path, query: new URLSearchParams(search), headers, body };
}

function bodyOf(text: string, type = ''): Heard['body'] {
  if (text === '') return {};
  if (!/^application\/json\b/i.test(type)) return 'broken';
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : 'broken';
  } catch {
    return 'broken';
  }
}

/** What is kept of a request: of a key no more than its hash. */
export function callOf(number: number, heard: Heard, place: Place): Call {
  const { encryption_key: key, ...body } = heard.body === 'broken' ? {} : heard.body;
  return {
    number,
    method: heard.method,
    path: heard.path,
    query: heard.query.toString(),
    instance: place.instance?.name,
    body,
    key: typeof key === 'string' ? createHash('sha256').update(key).digest('hex') : undefined,
    answered: undefined,
    did: false,
  };
}
