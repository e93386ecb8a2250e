import { findBackup } from './backups.ts';
import { type Endpoint, Refusal, type Reply, type Request } from './endpoint.ts';

const FILE = { status: 200 };

/**
 * Section 4.3: revision 61 downloads below V1, revision 62 below the dashboard address. V0, which both serve,
 * has both methods there.
 */
export const downloadEndpoints: readonly Endpoint[] = [
  downloadEndpoint({
    method: 'GET',
    base: '/v1/instances',
    path: '/backups/:id/download',
    name: 'downloadBackup',
    errors: 'v1-download',
    answers: { 61: FILE },
  }),
  downloadEndpoint({
    method: 'GET',
    base: '/service-instances',
    path: '/backups/:id/download',
    name: 'downloadBackupV0',
    errors: 'v0',
    answers: { 61: FILE, 62: FILE },
  }),
  downloadEndpoint({
    method: 'POST',
    base: '/service-instances',
    path: '/backups/:id/download',
    name: 'downloadBackupByPost',
    errors: 'v0',
    answers: { 61: FILE, 62: FILE },
  }),
];

function downloadEndpoint(
  place: Pick<Endpoint, 'method' | 'base' | 'path' | 'name' | 'errors' | 'answers'>,
): Endpoint {
  return {
    ...place,
    summary: 'Gives the encrypted and compressed backup, or the range of its bytes that is asked for.',
    streams: true,
    unknownInstance: 412,
    refuses: { 61: [416], 62: [416] },
    carryOut: async (request) => download(request),
  };
}

function download({ instance, state, params, range, ifRange }: Request): Reply {
  const backup = findBackup(instance, params['id'] ?? params['backup_id']);
  if (backup === undefined || !instance.isDownloadable(backup, state.settings.downloads)) {
    throw new Refusal(412, 'preconditionFailed', 'the backup does not exist or cannot be downloaded');
  }
  const { size } = backup;
  const etag = `"${backup.backupId}"`;
  const isSame = ifRange === undefined || ifRange === etag;
  const part = isSame ? rangeIn(range, size) : undefined;
  if (part === 'beyond') {
    const headers = { 'content-range': `bytes */${size}` };
    throw new Refusal(416, 'rangeNotSatisfiable', 'the backup has fewer bytes', headers);
  }
  const { start, end } = part ?? { start: 0, end: size };
  return {
    kind: 'file',
    status: part === undefined ? 200 : 206,
    size: end - start,
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${backup.backupId}.tgz"`,
      'accept-ranges': 'bytes',
      etag,
      ...(part === undefined ? {} : { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
    },
    open: (length) => instance.backups.read(backup, start, start + length),
  };
}

/**
 * The part of `size` bytes that a `Range` field asks for (RFC 9110, 14.1.2): from `start` up to before `end`.
 * `beyond` if it lies outside (416). Undefined where a server answers with the whole: no field, another unit,
 * a malformed field, several ranges.
 */
export function rangeIn(
  field: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | 'beyond' | undefined {
  const parts = /^bytes=\s*(?<first>\d*)-(?<last>\d*)\s*$/iu.exec(field ?? '')?.groups;
  if (parts === undefined) return undefined;
  const [first = '', last = ''] = [parts['first'], parts['last']];
  if (first === '') {
    if (last === '') return undefined;
    return Number(last) === 0 ? 'beyond' : { start: Math.max(0, size - Number(last)), end: size };
  }
  if (last !== '' && Number(last) < Number(first)) return undefined;
  if (Number(first) >= size) return 'beyond';
  return { start: Number(first), end: last === '' ? size : Math.min(size, Number(last) + 1) };
}
