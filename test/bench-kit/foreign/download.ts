import { createHash } from 'node:crypto';
import { type Answer, refusedByV0, refusedDownload } from './call.ts';
import { type Asked, backupOf, isOffered, type World } from './route.ts';

/** Section 4.3. `version` decides how the 412 is worded: both have a body of their own. */
export async function download(asked: Asked, world: World, version: 'v0' | 'v1'): Promise<Answer> {
  const backup = backupOf(asked);
  if (backup?.file === undefined || !isOffered(backup, asked.instance, world)) {
    const words = 'ids do not match';
    return version === 'v0' ? refusedByV0(412, words) : refusedDownload(412, words);
  }
  const bytes = await backup.file.bytes();
  const headers = {
    'content-type': 'application/gzip',
    'content-disposition': `attachment; filename="${asked.id}.tgz"`,
  };
  if (world.options.ranges !== true) return { status: 200, bytes, headers };
  return partOf(bytes, asked, headers);
}

/**
 * RFC 9110 sections 13.1.5 and 14: one range that begins somewhere, and only of the file that the client
 * began with.
 */
function partOf(bytes: Buffer, { headers: asked }: Asked, headers: Readonly<Record<string, string>>): Answer {
  const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`;
  const known = { ...headers, 'accept-ranges': 'bytes', etag };
  const [, start, end = ''] = /^bytes=(\d+)-(\d*)$/.exec(asked['range'] ?? '') ?? [];
  const isSame = asked['if-range'] === undefined || asked['if-range'] === etag;
  if (start === undefined || !isSame) {
    return { status: 200, bytes, headers: { ...known, 'content-length': bytes.length } };
  }
  const first = Number(start);
  const last = Math.min(end === '' ? Number.POSITIVE_INFINITY : Number(end), bytes.length - 1);
  if (first > last) {
    const none = { ...known, 'content-range': `bytes */${bytes.length}`, 'content-length': 0 };
    return { status: 416, bytes: Buffer.alloc(0), headers: none };
  }
  const part = bytes.subarray(first, last + 1);
  const range = `bytes ${first}-${last}/${bytes.length}`;
  return {
    status: 206,
    bytes: part,
    headers: { ...known, 'content-range': range, 'content-length': part.length },
  };
}
