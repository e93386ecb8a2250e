// Written by hand: pg with pg-copy-streams crashes on the row sets that BASE_BACKUP sends before the copy.

import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import type { BaseBackup } from './engine.ts';

/**
 * Takes a base backup that needs no archive: it contains the log of its own time. Nothing is stored on the
 * way; the server is read as fast as `content` is.
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

/** A part of the answer to `BASE_BACKUP` (PostgreSQL documentation, "Streaming Replication Protocol"). */
type BackupPart =
  | { readonly kind: 'archive'; readonly name: string }
  | { readonly kind: 'manifest' }
  /** Bytes of the archive or manifest that was announced last. */
  | { readonly kind: 'data'; readonly bytes: Buffer };

const PROTOCOL_3_0 = 196_608;

/**
 * Sends one `BASE_BACKUP` over a unix socket with peer authentication, and yields the parts as they arrive.
 * Slow reading slows the server down; leaving the loop closes the connection. Rejects with the server's own
 * message.
 */
async function* streamBaseBackup(socketPath: string, command: string): AsyncGenerator<BackupPart> {
  const socket = connect(socketPath);
  try {
    await once(socket, 'connect');
    socket.write(startupMessage({ user: 'postgres', replication: 'true' }));
    let asked = false;
    for await (const { type, body } of messages(socket)) {
      if (type === 'E') throw new Error(errorMessage(body));
      if (type === 'R' && body.readInt32BE(0) !== 0) throw new Error('the server asks for a password');
      if (type === 'd') yield backupPart(body);
      if (type !== 'Z') continue;
      if (asked) return;
      asked = true;
      socket.write(message('Q', Buffer.from(`${command}\0`)));
    }
    throw new Error('the server closed the connection in the middle of the backup');
  } finally {
    socket.destroy();
  }
}

function startupMessage(parameters: Record<string, string>): Buffer {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}\0${value}\0`);
  const body = Buffer.from(`${pairs.join('')}\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + body.length, 0);
  head.writeInt32BE(PROTOCOL_3_0, 4);
  return Buffer.concat([head, body]);
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

async function* messages(source: AsyncIterable<Buffer>): AsyncGenerator<{ type: string; body: Buffer }> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (rest.length - at >= 5) {
      const end = at + 1 + rest.readInt32BE(at + 1);
      if (rest.length < end) break;
      yield {
        type: String.fromCharCode(rest[at] ?? 0),
        body: rest.subarray(at + 5, end),
      };
      at = end;
    }
    rest = rest.subarray(at);
  }
}

/** The first byte of each CopyData message is its kind. */
function backupPart(body: Buffer): BackupPart {
  const rest = body.subarray(1);
  switch (String.fromCharCode(body[0] ?? 0)) {
    case 'n':
      return { kind: 'archive', name: rest.toString('utf8', 0, rest.indexOf(0)) };
    case 'm':
      return { kind: 'manifest' };
    case 'd':
      return { kind: 'data', bytes: rest };
    default:
      // 'p' is progress, sent only on request.
      return { kind: 'data', bytes: Buffer.alloc(0) };
  }
}

/** Fields of an ErrorResponse are a type byte and text; `M` is the message. */
function errorMessage(body: Buffer): string {
  const fields = body.toString('utf8').split('\0');
  return fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'the server refused the backup';
}
