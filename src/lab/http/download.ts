import { findBackup } from './backups.ts';
import { type Endpoint, Refusal, type Reply, type Request } from './endpoint.ts';

/** Section 4.3: revision 61 downloads below V1, revision 62 below the dashboard address. */
export const downloadEndpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    base: '/v1/instances',
    path: '/backups/:id/download',
    errors: 'v1-download',
    revision: 61,
    streams: true,
    carryOut: download,
  },
  {
    method: 'GET',
    base: '/service-instances',
    path: '/backups/:id/download',
    errors: 'v0',
    revision: 62,
    streams: true,
    carryOut: download,
  },
];

function download({ instance, params, range }: Request): Reply {
  const backup = findBackup(instance, params['id']);
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
