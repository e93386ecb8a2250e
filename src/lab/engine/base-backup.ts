import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import type { BaseBackup } from './engine.ts';
import { streamBaseBackup } from './replication-client.ts';

/**
 * Takes a base backup that needs no archive to be restored: the write-ahead log of its own time is inside.
 * Nothing is stored on the way; the server is read as fast as `content` is.
 */
export function takeBaseBackup(socketPath: string, label: string): BaseBackup {
  let manifest: Buffer = Buffer.alloc(0);
  async function* content(): AsyncGenerator<Buffer> {
    let end: Buffer = Buffer.alloc(0);
    const manifestParts: Buffer[] = [];
    let inManifest = false;
    for await (const part of streamBaseBackup(socketPath, baseBackupCommand(label))) {
      if (part.kind === 'manifest') inManifest = true;
      if (part.kind === 'archive' && part.name !== 'base.tar') {
        throw new Error(`the database has a tablespace of its own: ${part.name}`);
      }
      if (part.kind !== 'data') continue;
      if (inManifest) {
        manifestParts.push(Buffer.from(part.bytes));
        continue;
      }
      const bytes = Buffer.concat([end, part.bytes]);
      end = bytes.subarray(Math.max(0, bytes.length - END_OF_TAR));
      if (bytes.length > end.length) yield bytes.subarray(0, bytes.length - end.length);
    }
    if (end.some((byte) => byte !== 0)) yield end;
    manifest = Buffer.concat(manifestParts);
    yield await manifestEntry(manifest);
  }
  return {
    content: Readable.from(content(), { objectMode: false }),
    manifest: () => manifest.toString('utf8'),
  };
}

/** A tar ends with two empty blocks (POSIX pax). They are held back, so that another entry can follow. */
const END_OF_TAR = 1024;

function baseBackupCommand(label: string): string {
  const quoted = `'${label.replaceAll("'", "''")}'`;
  const manifest = `MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256'`;
  return `BASE_BACKUP (LABEL ${quoted}, CHECKPOINT 'fast', WAL true, ${manifest}, WAIT false)`;
}

/** The last entry and the end of the tar. */
async function manifestEntry(manifest: Buffer): Promise<Buffer> {
  const tar = pack();
  tar.entry({ name: 'backup_manifest', mode: 0o600 }, manifest);
  tar.finalize();
  return await buffer(tar);
}
