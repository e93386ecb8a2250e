import { type Check, skip } from '../check.ts';
import { ENDPOINTS, type Endpoint, UNKNOWN } from '../endpoints.ts';
import { ensure, expectStatus } from '../expect.ts';
import { newestBackup, readListing } from '../reads.ts';
import type { Subject } from '../subject.ts';

/** Larger backups are not read whole: their length is checked by what the server announces. */
const WHOLE = 256 * 2 ** 20;
const SALTED = Buffer.from('Salted__');
const GZIP = Buffer.from([0x1f, 0x8b]);
/** Of a page or of JSON. */
const TEXT = /^\s*[<{[]/u;

/** Section 4.3. */
export const DOWNLOAD: readonly Check[] = [
  {
    id: 'download.v1',
    section: '4.2 (7), 4.3',
    title: 'a backup is downloaded from V1: encrypted or compressed, and as long as it says',
    needs: { revisions: [61] },
    run: async (subject) => await downloads(subject, ENDPOINTS.v1Download),
  },
  {
    id: 'download.v0-base',
    section: '4.3',
    title: 'a backup is downloaded from the dashboard address: encrypted or compressed, and of its size',
    needs: { revisions: [62], v0: true },
    run: async (subject) => await downloads(subject, ENDPOINTS.download),
  },
  {
    id: 'download.v0-post',
    section: '4.3',
    title: 'V0 gives the same backup by POST',
    needs: { revisions: [61, 62, 'v0'], v0: true, level: 'safe' },
    run: async (subject) => await downloads(subject, ENDPOINTS.v0Download),
  },
  {
    id: 'download.not-in-62',
    section: '4.3',
    title: 'revision 62 gives no download from V1',
    needs: { revisions: [62] },
    run: async (subject) => {
      const backup = await newestBackup(subject, ({ downloadable }) => downloadable === true);
      if (backup === undefined) skip('no backup can be downloaded');
      const { exchange } = await subject.api.download('v1', 'GET', `/backups/${backup.id}/download`, 64);
      if (exchange.status === 200) return ['it does give one, which the document calls unavailable'];
      ensure(exchange.status >= 400, 'neither gives nor refuses it', exchange);
      return [];
    },
  },
];

async function downloads(subject: Subject, endpoint: Endpoint) {
  const backup = await chosen(subject);
  if (backup === undefined) skip('no backup can be downloaded');
  const path = endpoint.path({ ...UNKNOWN, backup: backup.id });
  const { exchange, first, received, whole } = await subject.api.download(
    endpoint.base,
    endpoint.method,
    path,
    WHOLE,
  );
  if (exchange.status === 412 && subject.revision === 'v0') skip('V0 does not tell which can be downloaded');
  expectStatus(exchange, [200]);
  ensure(!TEXT.test(first.toString('latin1')), 'begins as a page or as JSON, and not as a backup', exchange);
  const isKnown = first.subarray(0, 8).equals(SALTED) || first.subarray(0, 2).equals(GZIP);
  const strange = isKnown
    ? []
    : ['begins neither as `openssl enc` writes nor as gzip does; the document shows no form'];
  const { contentLength } = exchange;
  const { size } = backup;
  if (whole) {
    const announced = contentLength === undefined || contentLength === received;
    ensure(announced, `Content-Length is ${contentLength}, and ${received} bytes came`, exchange);
    ensure(size === undefined || size === received, `size is ${size}, and ${received} bytes came`, exchange);
    return strange;
  }
  const fits = size === undefined || contentLength === undefined || size === contentLength;
  ensure(fits, `size is ${size}, Content-Length ${contentLength}`, exchange);
  return [`only the first ${received} bytes were read`, ...strange];
}

/** V0 lists neither sizes nor what can be downloaded. */
async function chosen(
  subject: Subject,
): Promise<{ readonly id: number; readonly size: number | undefined } | undefined> {
  if (subject.revision !== 'v0') {
    const newest = await newestBackup(subject, ({ downloadable }) => downloadable === true);
    return newest === undefined ? undefined : { id: newest.id, size: newest.size };
  }
  const { value } = await readListing(subject);
  const done = value.backups.findLast(({ backup_agent_task }) => backup_agent_task.status === 'done');
  return done === undefined ? undefined : { id: done.id, size: undefined };
}
