import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fitsAsked } from '../../approvals/fits-asked.ts';
import { sshSurroundings } from '../../approvals/ssh-keygen.ts';
import { NAMESPACE } from '../../approvals/ssh-signature.ts';
import { localTime } from '../../approvals/verify-signature.ts';
import type { Finding } from '../../audit/audit-report.ts';
import { approvalFiles } from '../../audit/bundle/approvals.ts';
import type { BundleFiles } from '../../audit/bundle/tar.ts';
import { counted } from '../../format.ts';
import type { Row } from '../../store/chain.ts';
import { readRunEntry } from '../../store/run-entries.ts';
import { show } from '../../text.ts';

const SIGNATURE = /^(approvals\/[0-9A-Za-z_]+)\.(\d+)\.sig$/u;
/** The names of who signed, when that was seen, the key. */
const SIGNER = /^# approver: ([^\s-]\S*) at (\S+) with (SHA256:\S+)\n/u;
const TIMEOUT_MS = 20_000;
/** No run has so many; a forged record must not keep an auditor's machine busy for a day. */
const MOST_CHECKED = 200;

type Approval = Parameters<typeof approvalFiles>[0][number];

/**
 * Whether the approvals of a record are what they say: each signature over a text that was asked for in this run and names this run, plan, target and order, and good
 * by OpenSSH's own verifier, for the time when it was seen. Takes the entries about approvals, of any number of runs. What cannot be checked here is a warning.
 */
export async function approvalFindings(rows: readonly Row[]): Promise<Finding[]> {
  const byStream = Map.groupBy(rows, ({ stream }) => stream);
  return [...byStream].flatMap(([stream, ofRun]) => {
    const entries = ofRun.flatMap((row) => entryOf(row));
    return [...textFindings(stream, entries), ...signatureFindings(approvalFiles(entries), stream)];
  });
}

function entryOf({ seq, at, type, body }: Row): Approval[] {
  try {
    return [{ seq, at, type, body: JSON.parse(body) }];
  } catch {
    // What is no JSON is a finding of the chain.
    return [];
  }
}

function textFindings(stream: string, entries: readonly Approval[]): Finding[] {
  const runId = stream.replace(/^run\//u, '');
  const misfits = new Map<string, string | undefined>();
  return entries.flatMap((entry): Finding[] => {
    const read = readRunEntry(entry);
    const found = (why: string): Finding[] => [
      { severity: 'problem', stream, seq: entry.seq, code: 'approval.asked', shortMessage: show(why) },
    ];
    if (read?.type === 'approval.asked') {
      const { challenge } = read.body;
      misfits.set(challenge, misfits.get(challenge) ?? fitsAsked(read.body, { runId }));
    }
    if (read?.type !== 'approval.given') return [];
    if (!misfits.has(read.body.challenge)) return found('an approval was given that was never asked for');
    const why = misfits.get(read.body.challenge);
    return why === undefined ? [] : found(`the approval was not given for what was asked: ${why}`);
  });
}

/** Checks the signatures with OpenSSH's own tool; where that is missing, one warning says so. */
export function signatureFindings(files: BundleFiles, stream: string): Finding[] {
  const names = [...files.keys()].filter((name) => SIGNATURE.test(name));
  if (names.length === 0) return [];
  const isThere =
    spawnSync('ssh-keygen', ['-?'], { timeout: TIMEOUT_MS, env: sshSurroundings() }).error === undefined;
  const some = isThere ? names.slice(0, MOST_CHECKED) : [];
  const bad = some
    .filter((name) => !isGood(files, name))
    .map(
      (name): Finding => ({
        severity: 'problem',
        stream,
        seq: Number(SIGNATURE.exec(name)?.[2]),
        code: 'approval.signature',
        shortMessage: `${show(name, 120)} does not verify`,
      }),
    );
  const left = names.length - some.length;
  if (left === 0) return bad;
  const why = isThere ? 'there are too many' : 'ssh-keygen is not on this machine';
  const what = counted(left, 'approval signature was', 'approval signatures were');
  return [
    ...bad,
    { severity: 'warning', stream, code: 'approval.unchecked', shortMessage: `${what} not checked: ${why}` },
  ];
}

/** Good means: over this text, with the key of the record, by somebody whom the recorded line allowed at that time. */
function isGood(files: BundleFiles, name: string): boolean {
  const text = files.get(`${SIGNATURE.exec(name)?.[1] ?? ''}.txt`);
  const signer = files.get(name.replace(/\.sig$/u, '.signer'));
  const [, names = '', at = '', key] = SIGNER.exec(signer?.toString('utf8') ?? '') ?? [];
  const seen = new Date(at);
  if (text === undefined || signer === undefined || key === undefined || Number.isNaN(seen.getTime()))
    return false;
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-approval-'));
  try {
    writeFileSync(join(folder, 'sig'), files.get(name) ?? '', { mode: 0o600 });
    writeFileSync(join(folder, 'signers'), signer, { mode: 0o600 });
    const [principal = ''] = names.split(',');
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
