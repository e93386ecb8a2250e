import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';

/** A user who owns nothing on this machine but an empty home. */
export interface InstalledUser {
  readonly home: string;
  /** Runs a program in the home. Never rejects for its exit code. */
  run(program: string, ...words: readonly string[]): Promise<Ran>;
  /** Writes a file below the home that only this user reads. */
  give(name: string, content: string): string;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Debian's `nobody` and `nogroup`. */
const NOBODY = 65534;

/**
 * A user with a new home below `folder`. Started by root it is another user; else it is the same one, who
 * shares nothing but the programs of the system. Its PATH begins with `bin` of the home's folder `programs`,
 * where `node` is the Node that runs this.
 */
export function installedUser(
  folder: string,
  name: string,
  env: Readonly<Record<string, string>>,
): InstalledUser {
  const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const own = (path: string) => {
    if (owner.uid !== undefined) chownSync(path, owner.uid, owner.gid);
    return path;
  };
  const home = join(folder, name);
  mkdirSync(home, { mode: 0o700 });
  own(home);
  const programs = join(folder, 'programs');
  mkdirSync(programs, { recursive: true, mode: 0o755 });
  const node = join(programs, basename(process.execPath));
  // The checkout's own may lie in a folder that others cannot look into. One that runs cannot be overwritten.
  if (!existsSync(node)) copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  return {
    home,
    run: async (program, ...words) => {
      const child = spawn(program, words, {
        ...owner,
        cwd: home,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...reachable(), PATH: `${programs}:${process.env['PATH'] ?? ''}`, HOME: home, ...env },
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, stdout, stderr };
    },
    give: (file, content) => {
      const path = join(home, file);
      writeFileSync(path, content, { mode: 0o600 });
      return own(path);
    },
  };
}

/** What a package registry may only be reached with. */
function reachable(): Readonly<Record<string, string | undefined>> {
  const wanted = /^(?:https?_proxy|no_proxy|node_extra_ca_certs|npm_config_registry)$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => wanted.test(name)));
}
