import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { NAMESPACE } from '../../src/approvals/ssh-signature.ts';

/** A person with an SSH key made by OpenSSH. */
export interface Person {
  readonly name: string;
  readonly keyFile: string;
  /** `ssh-ed25519 AAAA...`. */
  readonly publicKey: string;
  /** A line for an allowed-signers file. */
  line(options?: string): string;
  /** Signs as `ssh-keygen -Y sign` does. */
  sign(text: string, namespace?: string): string;
}

export interface People {
  readonly folder: string;
  person(name: string, type?: 'ed25519' | 'rsa' | 'ecdsa'): Person;
  /** Writes a file into the folder; returns its path. */
  file(name: string, content: string | Buffer): string;
}

/** A folder with keys that is removed when the test has finished. */
export function somePeople({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): People {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-people-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    person: (name, type = 'ed25519') => {
      const keyFile = join(folder, `key-${name.replace(/\W/g, '_')}-${type}`);
      execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', '', '-f', keyFile]);
      const publicKey = readFileSync(`${keyFile}.pub`, 'utf8').trim();
      return {
        name,
        keyFile,
        publicKey,
        line: (options = `namespaces="${NAMESPACE}"`) => `${name} ${options} ${publicKey}\n`,
        sign: (text, namespace = NAMESPACE) => signWith(keyFile, text, namespace),
      };
    },
    file: (name, content) => {
      const path = join(folder, name);
      writeFileSync(path, content, { mode: 0o600 });
      return path;
    },
  };
}

/** An armored signature of OpenSSH, with a key or a certificate. */
export function signWith(keyFile: string, text: string, namespace = NAMESPACE): string {
  const { status, stdout, stderr } = spawnSync('ssh-keygen', ['-Y', 'sign', '-f', keyFile, '-n', namespace], {
    input: text,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`ssh-keygen did not sign: ${stderr}`);
  return stdout;
}
