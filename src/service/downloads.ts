import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { BEGINNING_BYTES, beginningOf } from '../backup/beginning.ts';
import { LifeboatError, withMore } from '../base/errors.ts';
import { show, untrust } from '../base/text.ts';
import { type InstanceAddress, urlOf } from './address.ts';
import type { Download, DownloadOptions } from './client.ts';
import { badAnswerError } from './failures.ts';
import { dateOf, type ReadCall, type Reader, type ReadResponse } from './reader.ts';
import { DOWNLOADS, type DownloadRoute } from './revisions.ts';

/** These mean "not by this way" rather than "not this backup". */
const WAY_IS_CLOSED: readonly string[] = [
  'service.not-found',
  'service.error',
  'service.redirect',
  'service.bad-answer',
];

interface OpenOptions extends DownloadOptions {
  readonly order: readonly DownloadRoute[];
  readonly onRequest: () => void;
}

/** RFC 9110 section 8.8.3; strong, and short enough for a header. */
const STRONG_ETAG = /^"[\x21\x23-\x7e]{0,250}"$/u;

/**
 * By the first way in `order` that returns the bytes; if none does, throws the first way's error. `requests`
 * in the evidence of every rejection counts the requests.
 */
export async function openDownload(
  reader: Reader,
  address: InstanceAddress,
  id: number,
  options: Omit<OpenOptions, 'onRequest'>,
): Promise<Download> {
  let requests = 0;
  const counted = { ...options, onRequest: () => (requests += 1) };
  try {
    return await openByFirst(reader, address, id, counted);
  } catch (error) {
    throw error instanceof LifeboatError ? withMore(error, { evidence: { requests } }) : error;
  }
}

async function openByFirst(
  reader: Reader,
  address: InstanceAddress,
  id: number,
  options: OpenOptions,
): Promise<Download> {
  const failures: LifeboatError[] = [];
  const { offset = 0, onlyGet = false } = options;
  const order = options.order.filter((way) => !onlyGet || DOWNLOADS[way].method === 'GET');
  for (const way of order) {
    try {
      return await openRoute(reader, callOf(way, address, id, options), offset);
    } catch (error) {
      if (!(error instanceof LifeboatError) || !WAY_IS_CLOSED.includes(error.code)) throw error;
      if (error.evidence['download'] === 'offset') throw error;
      // An error in the middle of a file says nothing about the way to it; a page in place of the file does.
      if (offset > 0 && error.code === 'service.bad-answer' && error.evidence['download'] !== 'refused')
        throw notFrom(offset, { ...error.evidence }, error);
      failures.push(error);
    }
  }
  const [first] = failures;
  throw new LifeboatError(
    first?.code ?? 'service.error',
    first?.shortMessage ?? 'the service offers no download',
    {
      hints: [...(first?.hints ?? []), 'check in the dashboard whether downloads are switched off'],
      evidence: { ...first?.evidence, tried: failures.map((failure) => failure.shortMessage) },
    },
  );
}

function callOf(
  way: DownloadRoute,
  address: InstanceAddress,
  id: number,
  { offset = 0, ifRange, signal, onRequest }: OpenOptions,
): ReadCall {
  const route = DOWNLOADS[way];
  return {
    method: route.method === 'GET' ? 'GET' : 'POST',
    url: urlOf(address, route, id),
    answer: 'stream',
    headers: rangeHeaders(offset, ifRange),
    signal,
    onRequest,
  };
}

/** A weak validator proves nothing, so the whole file is requested (RFC 9110 section 13.1.5). */
function rangeHeaders(offset: number, ifRange: string | undefined): Readonly<Record<string, string>> {
  if (offset <= 0 || (ifRange !== undefined && !STRONG_ETAG.test(ifRange))) return {};
  return { range: `bytes=${offset}-`, ...(ifRange === undefined ? {} : { 'if-range': ifRange }) };
}

async function openRoute(reader: Reader, call: ReadCall, offset: number): Promise<Download> {
  const response = await reader.fetch(call);
  const { status, headers } = response;
  if (status >= 300 && status !== 416) throw await reader.problemOf(response);
  try {
    const length = bytesOf(headers['content-length']);
    const etag = strongEtag(headers);
    const begins =
      status === 200
        ? { offset: 0, total: length }
        : requireRange(response, offset, call.headers?.['if-range']);
    const stream = response.body as Readable;
    if (begins.offset === 0) await assertOwnFile(stream, response);
    return {
      stream,
      ...begins,
      length,
      framed: length !== undefined || /\bchunked\b/iu.test(String(headers['transfer-encoding'] ?? '')),
      acceptsRanges: status === 206 || /^\s*bytes\s*$/iu.test(String(headers['accept-ranges'] ?? '')),
      etag: etag === undefined ? undefined : untrust(etag),
      marks: marksOf(headers),
      serverDate: dateOf(headers),
    };
  } catch (error) {
    response.body.on('error', () => undefined).destroy();
    throw error;
  }
}

/** RFC 9110 section 14.4: only a 206 that begins at the requested byte, of the same file, continues it. */
function requireRange(
  response: ReadResponse,
  offset: number,
  ifRange: string | undefined,
): Pick<Download, 'offset' | 'total'> {
  const { status, headers } = response;
  if (offset === 0) throw badAnswerError(`a download answers with ${status}`);
  const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/u.exec(String(headers['content-range'] ?? '')) ?? [];
  const [start, last, total] = range.slice(1).map(bytesOf);
  const etag = strongEtag(headers);
  const same = ifRange === undefined || etag === undefined || etag === ifRange;
  const length = bytesOf(headers['content-length']);
  const fits =
    start === offset &&
    last !== undefined &&
    last >= start &&
    last < (total ?? Number.POSITIVE_INFINITY) &&
    (length === undefined || length === last - start + 1);
  if (status === 206 && same && fits) return { offset, total };
  throw notFrom(offset, { status });
}

function notFrom(offset: number, evidence: LifeboatError['evidence'], cause?: LifeboatError): LifeboatError {
  return new LifeboatError('service.bad-answer', `the service does not go on from byte ${offset}`, {
    hints: ['download the backup from its beginning'],
    evidence: { ...evidence, download: 'offset' },
    cause,
  });
}

function bytesOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/u.test(text) ? Number(text) : undefined;
}

function marksOf({ etag, 'last-modified': modified }: IncomingHttpHeaders): Download['marks'] {
  return {
    ...(etag === undefined ? {} : { etag: untrust(etag) }),
    ...(modified === undefined ? {} : { modified: untrust(modified) }),
  };
}

function strongEtag(headers: IncomingHttpHeaders): string | undefined {
  const { etag } = headers;
  return typeof etag === 'string' && STRONG_ETAG.test(etag) ? etag : undefined;
}

/** `identity` was requested. `aws-chunked`, a remnant of object stores, is no encoding. */
function encodingOf({ 'content-encoding': claimed }: IncomingHttpHeaders): string | undefined {
  const encodings = String(claimed ?? '')
    .split(',')
    .map((word) => word.trim().toLowerCase());
  return encodings.find((word) => !['', 'identity', 'aws-chunked'].includes(word));
}

const FOREIGN_FILES = {
  html: 'a web page instead of the backup',
  json: 'JSON instead of the backup',
  unknown: 'something that does not begin like a backup',
} as const;

/**
 * A login page comes with 200 and any type, and servers label unencoded `.tgz` files as encoded. The first
 * bytes decide, before any is passed on: a file that begins as an encrypted backup is one, whatever its
 * label. With another claimed encoding the content is unknown, since gzip may encode anything.
 */
async function assertOwnFile(stream: Readable, { status, headers }: ReadResponse): Promise<void> {
  const first = (await firstBytes(stream)) ?? Buffer.alloc(0);
  const beginning = beginningOf(first);
  const encoding = encodingOf(headers);
  if (beginning !== 'encrypted' && encoding !== undefined) {
    throw badAnswerError(
      `the service sends the backup encoded as ${show(encoding, 40)}, which was not asked for`,
      { status, encoding: show(encoding, 40), download: 'refused' },
    );
  }
  if (beginning === 'encrypted' || beginning === 'gzip' || beginning === 'empty') return;
  throw badAnswerError(`the service sends ${FOREIGN_FILES[beginning]}`, {
    status,
    type: show(String(headers['content-type'] ?? 'none'), 100),
    begins: first.subarray(0, 16).toString('hex'),
    download: 'refused',
  });
}

/** They stay in the stream: `BEGINNING_BYTES`, fewer if it ends earlier, undefined if it is empty. */
function firstBytes(stream: Readable): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    // A stream that failed before there were listeners emits no further error event.
    if (stream.errored !== null) {
      reject(stream.errored);
      return;
    }
    const onReadable = () => {
      // `BEGINNING_BYTES`, or the rest if the stream has ended.
      const chunk = stream.read(BEGINNING_BYTES) as Buffer | null;
      if (chunk === null) return;
      stopListening();
      stream.unshift(chunk);
      resolve(chunk);
    };
    const onEnd = () => {
      stopListening();
      resolve(undefined);
    };
    const onError = (error: Error) => {
      stopListening();
      reject(error);
    };
    const stopListening = () => stream.off('readable', onReadable).off('end', onEnd).off('error', onError);
    stream.on('readable', onReadable).on('end', onEnd).on('error', onError);
  });
}
