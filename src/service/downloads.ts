import type { Readable } from 'node:stream';
import { LifeboatError } from '../errors.ts';
import type { InstanceAddress, Revision } from './address.ts';
import type { Download } from './client.ts';
import { badAnswerError } from './failures.ts';
import { dateOf, looksLikeHtml, type ReadCall, type Reader, type ReadResponse } from './reader.ts';

type Route = 'v1' | 'v0' | 'v0-post';

/**
 * Which ways to a backup are tried, in order (service-api.md section 4.3): the V1 download of revision 61 is unavailable in
 * revision 62, which uses the V0 base; the earlier V0 reference lists the same path with POST.
 */
const ROUTES: Readonly<Record<Revision, readonly Route[]>> = {
  61: ['v1', 'v0', 'v0-post'],
  62: ['v0', 'v1', 'v0-post'],
  v0: ['v0', 'v0-post', 'v1'],
};

/** Failures that say "not this way" rather than "not this backup". */
const WAY_IS_CLOSED: readonly string[] = [
  'service.not-found',
  'service.error',
  'service.redirect',
  'service.bad-answer',
];

/** Opens the encrypted bytes of a backup by the first way that gives them. When none does, the first way's error is thrown. */
export async function openDownload(
  reader: Reader,
  address: InstanceAddress,
  id: number,
  options: { readonly signal?: AbortSignal; readonly offset?: number } = {},
): Promise<Download> {
  const offset = options.offset ?? 0;
  const failures: LifeboatError[] = [];
  for (const route of ROUTES[address.revision]) {
    try {
      return await openRoute(reader, callOf(route, address, id, offset, options.signal), offset);
    } catch (error) {
      if (!(error instanceof LifeboatError) || !WAY_IS_CLOSED.includes(error.code)) throw error;
      if (error.evidence['download'] === 'offset') throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  throw new LifeboatError(
    first?.code ?? 'service.error',
    first?.shortMessage ?? 'there is no way to a download',
    {
      hints: [...(first?.hints ?? []), 'check in the dashboard whether downloads are switched off'],
      evidence: {
        ...first?.evidence,
        tried: failures.map((failure) => failure.shortMessage),
      },
    },
  );
}

function callOf(
  route: Route,
  address: InstanceAddress,
  id: number,
  offset: number,
  signal: AbortSignal | undefined,
): ReadCall {
  return {
    method: route === 'v0-post' ? 'POST' : 'GET',
    url: `${route === 'v1' ? address.v1 : address.v0}/backups/${id}/download`,
    answer: 'stream',
    ...(offset > 0 ? { headers: { range: `bytes=${offset}-` } } : {}),
    signal,
  };
}

async function openRoute(reader: Reader, call: ReadCall, offset: number): Promise<Download> {
  const response = await reader.fetch(call);
  if (response.status >= 300 && response.status !== 416) throw await reader.problemOf(response);
  try {
    if (offset > 0) requireRange(response, offset);
    else if (response.status !== 200) throw badAnswerError(`a download answers with ${response.status}`);
    await refusePage(response);
  } catch (error) {
    response.body.on('error', () => undefined).destroy();
    throw error;
  }
  const length = response.headers['content-length'];
  return {
    stream: response.body as Readable,
    length: typeof length === 'string' && /^\d{1,15}$/u.test(length) ? Number(length) : undefined,
    serverDate: dateOf(response.headers),
  };
}

/** RFC 9110 section 14.4: only a 206 that begins at the asked byte continues a file. */
function requireRange(response: ReadResponse, offset: number): void {
  const [, start] =
    /^bytes (\d+)-\d+\/(?:\d+|\*)$/u.exec(String(response.headers['content-range'] ?? '')) ?? [];
  if (response.status === 206 && Number(start ?? Number.NaN) === offset) return;
  throw new LifeboatError('service.bad-answer', `the service does not go on from byte ${offset}`, {
    hints: ['download the backup from its beginning'],
    evidence: { status: response.status, download: 'offset' },
  });
}

/** A login page comes with 200 as well. The type alone proves nothing, so the first bytes decide. */
async function refusePage(response: ReadResponse): Promise<void> {
  if (!/html/iu.test(String(response.headers['content-type'] ?? ''))) return;
  const stream = response.body as Readable;
  const first = await firstChunk(stream);
  if (first !== undefined && looksLikeHtml(first)) {
    throw badAnswerError('the service sends a web page instead of the backup');
  }
}

function firstChunk(stream: Readable): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const onReadable = () => {
      const chunk = stream.read() as Buffer | null;
      if (chunk === null) return;
      settle();
      stream.unshift(chunk);
      resolve(chunk);
    };
    const onEnd = () => {
      settle();
      resolve(undefined);
    };
    const onError = (error: Error) => {
      settle();
      reject(error);
    };
    const settle = () => stream.off('readable', onReadable).off('end', onEnd).off('error', onError);
    stream.on('readable', onReadable).on('end', onEnd).on('error', onError);
  });
}
