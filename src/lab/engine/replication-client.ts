// By hand: pg with pg-copy-streams crashes on the row sets that BASE_BACKUP sends before the copy.
import { once } from 'node:events';
import { connect } from 'node:net';

/** A part of the answer to `BASE_BACKUP` (PostgreSQL documentation, "Streaming Replication Protocol"). */
export type BackupPart =
  | { readonly kind: 'archive'; readonly name: string }
  | { readonly kind: 'manifest' }
  /** Bytes of the archive or manifest that was announced last. */
  | { readonly kind: 'data'; readonly bytes: Buffer };

const PROTOCOL_3_0 = 196_608;

/**
 * Sends one `BASE_BACKUP` over a unix socket whose server knows its peer, and gives the parts as they arrive.
 * Reading slowly slows the server down; leaving the loop closes the connection. Rejects with the server's own
 * message.
 */
export async function* streamBaseBackup(socketPath: string, command: string): AsyncGenerator<BackupPart> {
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

/** The first byte of each CopyData message tells what the rest is. */
function backupPart(body: Buffer): BackupPart {
  const rest = body.subarray(1);
  switch (String.fromCharCode(body[0] ?? 0)) {
    case 'n':
      return {
        kind: 'archive',
        name: rest.toString('utf8', 0, rest.indexOf(0)),
      };
    case 'm':
      return { kind: 'manifest' };
    case 'd':
      return { kind: 'data', bytes: rest };
    default:
      // 'p' is progress, and only sent when asked for.
      return { kind: 'data', bytes: Buffer.alloc(0) };
  }
}

/** Fields of an ErrorResponse are a type byte and text; `M` is the message. */
function errorMessage(body: Buffer): string {
  const fields = body.toString('utf8').split('\0');
  return fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'the server refused the backup';
}
