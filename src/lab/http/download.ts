import { type Endpoint, Refusal, type Reply, type Request } from './endpoint.ts';
import { findBackup } from './tasks.ts';

const FILE = { status: 200 };

/**
 * Section 4.3: revision 61 downloads below V1, revision 62 below the dashboard address. V0, which both serve, has
 * both methods there.
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
    summary: 'Gives the encrypted and compressed backup; a Range of the form `bytes=N-` goes on from there.',
    streams: true,
    unknownInstance: 412,
    refuses: { 61: [416], 62: [416] },
    carryOut: async (request) => download(request),
  };
}

function download({ instance, params, range }: Request): Reply {
  const backup = findBackup(instance, params['id'] ?? params['backup_id']);
  if (backup === undefined || !instance.isDownloadable(backup)) {
    throw new Refusal(412, 'preconditionFailed', 'the backup does not exist or cannot be downloaded');
  }
  const { size } = backup;
  const start = Number(/^bytes=(?<start>\d+)-$/u.exec(range ?? '')?.groups?.['start'] ?? 0);
  if (start > 0 && start >= size) {
    throw new Refusal(416, 'rangeNotSatisfiable', 'the backup has fewer bytes');
  }
  return {
    kind: 'file',
    status: start > 0 ? 206 : 200,
    size: size - start,
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${backup.backupId}.tgz"`,
      'accept-ranges': 'bytes',
      etag: `"${backup.backupId}"`,
      ...(start > 0 ? { 'content-range': `bytes ${start}-${size - 1}/${size}` } : {}),
    },
    open: (end) => instance.read(backup, start, start + end),
  };
}
