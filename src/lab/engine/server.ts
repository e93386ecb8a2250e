import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Client, Pool } from 'pg';
import { pack } from 'tar-stream';
import { LifeboatError } from '../../base/errors.ts';
import type { BaseBackup, Query, Server, Settings } from './engine.ts';
import { exitOf, type Launcher, postgresError } from './launcher.ts';

/** Connects to a ready process; stops it and throws `lab.postgres` if it does not answer. */
export async function openServer(folder: string, process: PostgresProcess): Promise<Server> {
  const pool = new Pool({ ...superuser(folder), max: 4 });
  // Connections break when the server stops; the next query says so.
  pool.on('error', () => undefined);
  // A pool that ends forgets its waiting callers: they are rejected here.
  const waiting = new Set<(reason: LifeboatError) => void>();
  const query: Query = async <Row extends object>(sql: string, parameters?: readonly unknown[]) => {
    const gone = Promise.withResolvers<never>();
    waiting.add(gone.reject);
    try {
      const asked = pool.query<Row>(sql, parameters === undefined ? undefined : [...parameters]);
      const result = await Promise.race([asked, gone.promise]);
      return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? [];
    } finally {
      waiting.delete(gone.reject);
    }
  };
  // In parallel: the pool waits for its queries, and a query that hangs ends with the server.
  const ending = async (end: () => Promise<void>) => {
    await Promise.all([pool.end().catch(() => undefined), end()]);
    for (const reject of waiting) reject(databaseDown());
  };
  const server: Server = {
    pid: process.pid,
    get running() {
      return process.running;
    },
    query,
    baseBackup: (label) => takeBaseBackup(join(folder, '.s.PGSQL.5432'), label),
    admit: async () => {
      const before = await configLoadedAt(folder);
      await writeOpenAccess(folder);
      await query('select pg_reload_conf()');
      // A server process keeps its configuration: only a new connection shows the new one.
      while ((await configLoadedAt(folder)) === before);
    },
    stop: () => ending(process.stop),
    kill: () => ending(process.kill),
  };
  try {
    await query('select 1');
    return server;
  } catch (error) {
    await server.stop();
    throw postgresError('it does not answer', [String(error)], error);
  }
}

export function databaseDown(): LifeboatError {
  return new LifeboatError('lab.down', 'the database is down', {
    hints: ['start the instance, or wait until its restore is over'],
  });
}

async function configLoadedAt(folder: string): Promise<string> {
  const client = new Client(superuser(folder));
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ at: string }>('select pg_conf_load_time()::text as at');
    return rows[0]?.at ?? '';
  } finally {
    await client.end().catch(() => undefined);
  }
}

function superuser(folder: string) {
  return { host: folder, user: 'postgres', database: 'postgres' } as const;
}

export function configFile(folder: string): string {
  return join(folder, 'postgresql.conf');
}

/**
 * The server's whole configuration, outside its data folder: a restored cluster brings its source's files,
 * including the archive settings, and must not use them. Only this process's user gets in, as the superuser:
 * the kernel says who connects (PostgreSQL documentation, "Peer Authentication").
 */
export async function writeConfig(
  folder: string,
  options: { readonly major: number; readonly fsync: boolean; readonly settings: Settings },
): Promise<void> {
  const settings: Settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    unix_socket_permissions: '0700',
    hba_file: hbaFile(folder),
    ident_file: identFile(folder),
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    fsync: options.fsync ? 'on' : 'off',
    wal_level: 'replica',
    max_wal_senders: '6',
    // A backup streams its own log at the end, so log written during it must still exist.
    wal_keep_size: '64MB',
    // At least twice the segment size, or the server refuses to start.
    min_wal_size: '5MB',
    max_wal_size: '64MB',
    shared_buffers: '16MB',
    max_connections: '20',
    autovacuum_max_workers: '1',
    jit: 'off',
    // A killed server leaves its shared memory behind: keep it in its own folder, which is deleted.
    dynamic_shared_memory_type: 'mmap',
    // A statement may hold a password.
    log_min_error_statement: 'panic',
    ...(options.major >= 18 ? { io_method: 'sync' } : {}),
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  await writeReadable(configFile(folder), `${lines.join('\n')}\n`);
  await writeReadable(hbaFile(folder), SUPERUSER);
  await writeReadable(identFile(folder), `${MAP} "${userInfo().username.replaceAll('"', '""')}" postgres\n`);
}

/** Admits all others by password, once the server has reloaded. */
async function writeOpenAccess(folder: string): Promise<void> {
  await writeReadable(hbaFile(folder), `${SUPERUSER}local all all scram-sha-256\n`);
}

/** For the server, which may run as another user, whatever the umask. */
async function writeReadable(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o644);
}

const MAP = 'lab';

/* A closed socket folder is not enough: if root starts it, services may run as the folder's owner. */
const SUPERUSER = `local all postgres peer map=${MAP}\nlocal replication postgres peer map=${MAP}\n`;

function hbaFile(folder: string): string {
  return join(folder, 'hba.conf');
}

function identFile(folder: string): string {
  return join(folder, 'ident.conf');
}

/** Without an archive: it contains its own log. Nothing is stored on the way; `content` sets the pace. */
function takeBaseBackup(socketPath: string, label: string): BaseBackup {
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

/** A tar ends with two empty blocks (POSIX pax), held back so that another entry can follow. */
const END_OF_TAR = 1024;

function baseBackupCommand(label: string): string {
  const quoted = `'${label.replaceAll("'", "''")}'`;
  const manifest = `MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256'`;
  return `BASE_BACKUP (LABEL ${quoted}, CHECKPOINT 'fast', WAL true, ${manifest}, WAIT false)`;
}

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
  /** Of the archive or manifest that was announced last. */
  | { readonly kind: 'data'; readonly bytes: Buffer };

const PROTOCOL_3_0 = 196_608;

/**
 * Sends one `BASE_BACKUP` over a unix socket with peer authentication, and yields the parts as they arrive.
 * Slow reading slows the server down; leaving the loop closes the connection. Rejects with the server's
 * message. By hand: pg with pg-copy-streams crashes on the row sets that BASE_BACKUP sends before the copy.
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

/** Accepts connections. */
interface PostgresProcess {
  readonly pid: number;
  readonly running: boolean;
  /** Fast shutdown: cuts off clients, loses nothing committed. Resolves when the process is gone. */
  stop(): Promise<void>;
  /** With its children. Resolves when all of them are gone. */
  kill(): Promise<void>;
}

const READY = 'database system is ready to accept connections';
/** A recovering server reports every log file; one that is silent this long never comes up. */
const SILENCE_MS = 30_000;
/** After SIGQUIT the server waits 5 seconds before it kills a child that does not respond. */
const STOP_SIGNALS = [
  ['SIGINT', 3_000],
  ['SIGQUIT', 8_000],
  ['SIGKILL', 1_000],
] as const;
const KEPT_LINES = 40;

/**
 * Resolves when the server takes writes, after recovery and promotion. Rejects with `lab.postgres` and its
 * last log lines if it does not come up, and with the signal's reason.
 */
export async function startPostgres(
  launcher: Launcher,
  program: string,
  options: { readonly data: string; readonly configFile: string; readonly signal: AbortSignal },
): Promise<PostgresProcess> {
  const child = launcher.start(program, ['-D', options.data, '-c', `config_file=${options.configFile}`]);
  let running = true;
  const exited = exitOf(child);
  const gone = exited.then(
    () => undefined,
    () => undefined,
  );
  void gone.then(() => {
    running = false;
  });
  // Every process of the server holds its output open.
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = () => stopProcess(child, gone, () => running);
  try {
    await untilReady(child, exited, options.signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    pid: child.pid ?? 0,
    get running() {
      return running;
    },
    stop,
    kill: async () => {
      const children = await childrenOf(child.pid);
      child.kill('SIGKILL');
      for (const pid of children) endProcess(pid);
      await closed;
    },
  };
}

async function untilReady(
  child: ChildProcess,
  exited: Promise<number | string>,
  signal: AbortSignal,
): Promise<void> {
  const ready = Promise.withResolvers<void>();
  const log: string[] = [];
  const timer = setTimeout(() => ready.reject(postgresError('it never became ready', log)), SILENCE_MS);
  const abort = () => ready.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  if (child.stderr !== null) {
    createInterface({ input: child.stderr })
      .on('line', (line) => {
        log.push(line);
        timer.refresh();
        if (log.length > KEPT_LINES) log.shift();
        if (line.includes(READY)) ready.resolve();
      })
      // The log ends after the process: waiting for it keeps the last lines in the message.
      .once('close', () => {
        exited.then((code) => ready.reject(postgresError(`it ended with ${code}`, log)), ready.reject);
      });
  }
  child.stdout?.resume();
  exited.catch(ready.reject);
  try {
    await ready.promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** SIGINT: a fast shutdown; SIGQUIT: one without a checkpoint; SIGKILL: if neither helps. */
async function stopProcess(
  child: ChildProcess,
  gone: Promise<void>,
  isRunning: () => boolean,
): Promise<void> {
  for (const [signal, patienceMs] of STOP_SIGNALS) {
    if (!isRunning()) return;
    child.kill(signal);
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, patienceMs);
    await Promise.race([gone, patience.promise]);
    clearTimeout(timer);
  }
  await gone;
}

/**
 * On Linux, which lists them. Elsewhere none, without harm: a server's orphan ends as soon as it waits for
 * anything, so only a long computation delays `closed`.
 */
async function childrenOf(pid: number | undefined): Promise<number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return list
    .split(' ')
    .map(Number)
    .filter((child) => child > 0);
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
