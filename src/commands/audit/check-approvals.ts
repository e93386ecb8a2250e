import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sshSurroundings } from '../../approvals/ssh-keygen.ts';
import { NAMESPACE } from '../../approvals/ssh-signature.ts';
import { localTime } from '../../approvals/verify-signature.ts';
import type { BundleFiles } from '../../evidence/bundle/tar.ts';
import { show } from '../../text.ts';

const SIGNATURE = /^(approvals\/[0-9A-Za-z_]+)\.\d+\.sig$/u;
/** The names of who signed, when that was seen, the key. */
const SIGNER = /^# approver: ([^\s-]\S*) at (\S+) with (SHA256:\S+)\n/u;
const TIMEOUT_MS = 20_000;

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
  if (spawnSync('ssh-keygen', ['-?'], { timeout: TIMEOUT_MS, env: sshSurroundings() }).error !== undefined) {
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

/** Good means: over this text, with the key of the record, by somebody whom the recorded line allowed at that time. */
function isGood(files: BundleFiles, name: string): boolean {
  const text = files.get(`${SIGNATURE.exec(name)?.[1] ?? ''}.txt`);
  const signer = files.get(name.replace(/\.sig$/u, '.signer'));
  const [, names = '', at = '', key] = SIGNER.exec(signer?.toString('utf8') ?? '') ?? [];
  const seen = new Date(at);
  const [principal = ''] = names.split(',');
  if (text === undefined || signer === undefined || key === undefined || Number.isNaN(seen.getTime()))
    return false;
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-approval-'));
  try {
    writeFileSync(join(folder, 'sig'), files.get(name) ?? '', { mode: 0o600 });
    writeFileSync(join(folder, 'signers'), signer, { mode: 0o600 });
    const under = ['-I', principal, '-n', NAMESPACE, '-s', join(folder, 'sig')];
    const args = [
      '-Y',
      'verify',
      `-Overify-time=${localTime(seen)}`,
      '-f',
      join(folder, 'signers'),
      ...under,
    ];
    const { status, stdout } = spawnSync('ssh-keygen', args, {
      input: text,
      timeout: TIMEOUT_MS,
      env: sshSurroundings(),
    });
    return status === 0 && stdout.toString('utf8').trimEnd().endsWith(` key ${key}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
