import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BundleFiles } from '../../evidence/bundle/tar.ts';
import { show } from '../../text.ts';

const SIGNATURE = /^(approvals\/[0-9A-Za-z_]+)\.\d+\.sig$/u;
const TIMEOUT_MS = 20_000;

/** The namespace that an approval is signed in. */
const NAMESPACE = 'lifeboat-approval';

/**
 * Checks the signatures of a bundle's approvals with OpenSSH's own tool. Where that is missing they are left unchecked, and `tell` is told;
 * that they are those of the record is checked elsewhere.
 */
export async function approvalProblems(
  files: BundleFiles,
  tell: (line: string) => void,
): Promise<{ readonly code: string; readonly shortMessage: string }[]> {
  const names = [...files.keys()].filter((name) => SIGNATURE.test(name));
  if (names.length === 0) return [];
  if (spawnSync('ssh-keygen', ['-?'], { timeout: TIMEOUT_MS }).error !== undefined) {
    tell(`hint: ${names.length} signatures of approvals were not checked: ssh-keygen is not on this machine`);
    return [];
  }
  return names
    .filter((name) => !isGood(files, name))
    .map((name) => ({
      code: 'approval.signature',
      shortMessage: `${show(name, 120)} does not verify`,
    }));
}

/** Good means: over this text, and by the key that the record names. */
function isGood(files: BundleFiles, name: string): boolean {
  const text = files.get(`${SIGNATURE.exec(name)?.[1] ?? ''}.txt`);
  const signer = files.get(name.replace(/\.sig$/u, '.signer'))?.toString('utf8');
  const [principal = '', ...key] = signer?.trim().split(' ') ?? [];
  if (text === undefined || principal.startsWith('-') || key.length < 2) return false;
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-approval-'));
  try {
    writeFileSync(join(folder, 'sig'), files.get(name) ?? '', { mode: 0o600 });
    writeFileSync(join(folder, 'signers'), `signer ${key.join(' ')}\n`, { mode: 0o600 });
    const args = [
      '-Y',
      'verify',
      '-f',
      join(folder, 'signers'),
      '-I',
      'signer',
      '-n',
      NAMESPACE,
      '-s',
      join(folder, 'sig'),
    ];
    return spawnSync('ssh-keygen', args, { input: text, timeout: TIMEOUT_MS }).status === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
