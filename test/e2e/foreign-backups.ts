import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** How the foreign service derives its AES key from the text of the encryption key; options of `openssl enc`. */
export const PROFILES = {
  md5: ['-md', 'md5'],
  sha256: ['-md', 'sha256'],
  pbkdf2: ['-pbkdf2'],
} as const;
export type Profile = keyof typeof PROFILES;

export interface ForeignBackup {
  readonly id: number;
  readonly backupId: string;
  readonly triggered: Date;
  started?: Date;
  finished?: Date;
  size?: number;
  /** `queued`, then a word that no document knows, then `done`. */
  status: string;
  file?: { readonly path: string; bytes(): Promise<Buffer> };
}

export interface BackupYard {
  readonly backups: readonly ForeignBackup[];
  isBusy(): boolean;
  /** Begins a backup with the key of this moment; with 0 it is done when the promise resolves. */
  create(taskMs?: number): Promise<ForeignBackup>;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

/** Makes backups with other people's programs: `tar cz` of real files, then `openssl enc`. */
export async function openBackupYard(options: {
  readonly folder: string;
  readonly profile: Profile;
  readonly taskMs: number;
  readonly key: () => string;
}): Promise<BackupYard> {
  const { folder, profile } = options;
  const backups: ForeignBackup[] = [];
  const underWay = new Set<Promise<void>>();

  async function make(backup: ForeignBackup, key: string, taskMs: number): Promise<void> {
    backup.started = new Date();
    const data = join(folder, String(backup.id));
    const [tar, path] = [`${data}.tgz`, `${data}.enc`];
    await mkdir(join(data, 'base'), { recursive: true });
    await writeFile(join(data, 'PG_VERSION'), `18 ${backup.id}\n`);
    await writeFile(join(data, 'base/1259'), randomBytes(150_000));
    await Promise.all([pause(taskMs / 2), program('tar', ['-czf', tar, '-C', data, '.'])]);
    backup.status = 'archiving';
    const encrypt = [
      'enc',
      '-aes-256-cbc',
      '-salt',
      ...PROFILES[profile],
      '-in',
      tar,
      '-out',
      path,
      '-pass',
      'fd:3',
    ];
    await Promise.all([pause(taskMs / 2), program('openssl', encrypt, key)]);
    backup.size = (await stat(path)).size;
    backup.file = { path, bytes: () => readFile(path) };
    backup.finished = new Date();
    backup.status = 'done';
  }

  return {
    backups,
    isBusy: () => underWay.size > 0,
    async create(taskMs = options.taskMs) {
      const number = 900_041 + backups.length * 17;
      const backup = { id: number, backupId: `bkp:${number}~c2`, triggered: new Date(), status: 'queued' };
      backups.unshift(backup);
      const making = make(backup, options.key(), taskMs).catch(() => {
        backup.status = 'failed';
      });
      underWay.add(making);
      void making.finally(() => underWay.delete(making));
      if (taskMs === 0) await making;
      return backup;
    },
    async close() {
      await Promise.all(underWay);
    },
  };
}

/** The key goes through a pipe of its own, as it does not belong into argv or the environment. */
async function program(name: string, args: readonly string[], key?: string): Promise<void> {
  const child = spawn(name, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const pipe = child.stdio[3] as NodeJS.WritableStream | null;
  pipe?.end(`${key ?? ''}\n`);
  pipe?.on('error', () => undefined);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
}
