import { finished, PassThrough, type Readable } from 'node:stream';
import { failureOf, LifeboatError } from '../base/errors.ts';
import type { Download } from '../service/client.ts';
import type { Part } from './download-part.ts';

/** Requests in a row that bring nothing, until it is given up. */
export const FRUITLESS = 4;
/** After the first of them; doubles each time. */
export const FIRST_PAUSE_MS = 500;

/**
 * What comes of a stream, and then its failure. A stream that fails by itself drops what nobody has read yet,
 * so that a service that always breaks off soon would bring nothing at all.
 */
export function holdOn(stream: Readable): AsyncIterable<Buffer> {
  const held = new PassThrough();
  let failure: Error | null | undefined;
  // Also tells of a stream that has failed already.
  finished(stream, (error) => {
    failure = error;
    held.end();
  });
  stream.pipe(held);
  return (async function* () {
    yield* held as AsyncIterable<Buffer>;
    if (failure) throw failure;
  })();
}

/** What may pass by itself; a refusal does not. */
export function isPassing(thrown: unknown): boolean {
  const passing = [
    'service.reset',
    'service.timeout',
    'service.unreachable',
    'service.error',
    'backup.truncated',
  ];
  return passing.includes(failureOf(thrown).code);
}

/** An answer that ended before the announced length. */
export function short(bytes: number, total: number): LifeboatError {
  return new LifeboatError('backup.truncated', `the download ended after ${bytes} of ${total} bytes`, {
    hints: ['try again; a router may cut downloads that take longer than 15 minutes'],
    evidence: { bytes, total },
  });
}

/** Without a validator that promises the same bytes, what is known of both parts has to agree. */
export function requireSame(
  before: Pick<Part, 'total' | 'etag' | 'marks'>,
  { total, marks }: Download,
): void {
  const pairs = [
    [before.total, total],
    ...(before.etag === undefined
      ? [
          [before.marks?.etag, marks.etag],
          [before.marks?.modified, marks.modified],
        ]
      : []),
  ];
  if (pairs.every(([one, other]) => one === undefined || other === undefined || one === other)) return;
  throw new LifeboatError('service.bad-answer', 'the backup of the service changed while it was downloaded', {
    hints: ['download the backup from its beginning'],
    evidence: { download: 'offset' },
  });
}
