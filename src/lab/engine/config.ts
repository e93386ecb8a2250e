import { chmod, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Settings } from './engine.ts';

/** The configuration file of a server in this folder. */
export function configFile(folder: string): string {
  return join(folder, 'postgresql.conf');
}

/**
 * Writes the whole configuration of a server, outside of its data folder: a restored cluster brings the files
 * of its source along, its archive among them, and must not act on them. Only the superuser gets in, and only
 * this process's own user is the superuser: the kernel says who connects (PostgreSQL documentation, "Peer
 * Authentication").
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
    // A backup streams its own log at the end: what was written meanwhile must still be there.
    wal_keep_size: '64MB',
    // At least twice the segment size, or the server refuses to start.
    min_wal_size: '5MB',
    max_wal_size: '64MB',
    shared_buffers: '16MB',
    max_connections: '20',
    autovacuum_max_workers: '1',
    jit: 'off',
    // A server that is killed leaves its shared memory behind: then in its own folder, which goes with it.
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

/** Lets everybody else in by password, once the server has read it again. */
export async function writeOpenAccess(folder: string): Promise<void> {
  await writeReadable(hbaFile(folder), `${SUPERUSER}local all all scram-sha-256\n`);
}

/** For the server, which may run as another user: whatever the umask of who started the lab takes away. */
async function writeReadable(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o644);
}

const MAP = 'lab';

/*
 * The folder of the socket is closed to others, and that is not all: when root starts the lab, the folder
 * belongs to a user whom other services of the machine may run as, too.
 */
const SUPERUSER = `local all postgres peer map=${MAP}\nlocal replication postgres peer map=${MAP}\n`;

function hbaFile(folder: string): string {
  return join(folder, 'hba.conf');
}

function identFile(folder: string): string {
  return join(folder, 'ident.conf');
}
