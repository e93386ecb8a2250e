import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lineHash } from '../../approvals/allowed-signers.ts';
import { begunOf } from '../../approvals/policy.ts';
import { NAMESPACE, sshSurroundings } from '../../approvals/ssh-signature.ts';
import { fitsAsked } from '../../approvals/still-holds.ts';
import { localTime } from '../../approvals/verify-signature.ts';
import { approvalFiles } from '../../audit/bundle/documents.ts';
import type { BundleFiles } from '../../audit/bundle/pack.ts';
import type { Finding } from '../../audit/verdict.ts';
import { dateAt } from '../../base/date.ts';
import { counted } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { Entry, StoredEntry, StreamName } from '../../store/journal.ts';
import { isEnd, readRunEntry } from '../../store/run-entries.ts';

const SIGNATURE = /^(approvals\/[0-9A-Za-z_]+)\.(\d+)\.sig$/u;
/** The signer's names, when the signature was seen, and the key. */
const SIGNER = /^# approver: ([^\s-]\S*) at (\S+) with (SHA256:\S+)\n/u;
const TIMEOUT_MS = 20_000;
/** No run has this many; a forged record must not occupy an auditor's machine for a day. */
const MAX_CHECKED = 200;

/** Types of entries that record who may approve in a run. */
const BEGINS: readonly string[] = ['run.started', 'run.resumed'];

/**
 * Checks the approvals of any number of runs, in order: each signature must cover a text requested in this
 * run that names this run, plan, target and order, match the allowed-signers file of the run's beginning, and
 * verify with OpenSSH for the time when it was seen. What cannot be checked is a limit.
 */
export function approvalWatch(): { take(entry: StoredEntry): void; findings(): readonly Finding[] } {
  const runs = new Map<string, Entry[]>();
  return {
    take(stored) {
      const { stream, type } = stored;
      if (!BEGINS.includes(type) && !type.startsWith('approval.')) {
        // Most runs ask for no approval, and there may be a hundred thousand runs.
        if (isEnd(stored) && runs.get(stream)?.every((entry) => BEGINS.includes(entry.type)))
          runs.delete(stream);
        return;
      }
      const entries = runs.get(stream) ?? [];
      runs.set(stream, entries);
      entries.push(...entryOf(stored));
    },
    findings: () =>
      [...runs].flatMap(([stream, entries]) => [
        ...textFindings(stream, entries),
        ...signatureFindings(approvalFiles(entries), stream),
      ]),
  };
}

function entryOf(stored: StoredEntry): Entry[] {
  try {
    return [{ ...stored, stream: stored.stream as StreamName, body: JSON.parse(stored.body) }];
  } catch {
    // The audit of the log reports what is not JSON.
    return [];
  }
}

function textFindings(stream: string, entries: readonly Entry[]): Finding[] {
  const runId = stream.replace(/^run\//u, '');
  const begun = begunOf(entries).approvals?.signers;
  const misfits = new Map<string, string | undefined>();
  return entries.flatMap((entry): Finding[] => {
    const read = readRunEntry(entry);
    const found = (code: string, why: string): Finding[] => [
      { severity: 'problem', stream, seq: entry.seq, code, shortMessage: show(why) },
    ];
    if (read?.type === 'approval.asked') {
      const { challenge } = read.body;
      misfits.set(challenge, misfits.get(challenge) ?? fitsAsked(read.body, { runId }));
    }
    if (read?.type !== 'approval.given') return [];
    const { challenge, allowedBy } = read.body;
    if (!misfits.has(challenge))
      return found('approval.asked', 'an approval was given that was never asked for');
    const why = misfits.get(challenge);
    const isListed =
      begun === undefined || allowedBy === undefined || begun.lines.includes(lineHash(allowedBy.trim()));
    return [
      ...(why === undefined
        ? []
        : found('approval.asked', `the approval was not given for what was asked: ${why}`)),
      ...(isListed ? [] : found('approval.signer', NOT_LISTED)),
      ...(begun !== undefined && allowedBy === undefined
        ? [{ ...WHO_UNKNOWN, stream, seq: entry.seq } as const]
        : []),
    ];
  });
}

const WHO_UNKNOWN = {
  severity: 'limit',
  code: 'approval.unchecked',
  shortMessage: 'the line that allowed the key of an approval is not on record: it was too long',
} as const;
const NOT_LISTED =
  'the approval rests on a line that was not in the file of allowed signers when the run began: ' +
  'only people who were listed then could approve';

/** Checks the signatures with OpenSSH's own tool; if it is missing, one warning says so. */
export function signatureFindings(files: BundleFiles, stream: string): Finding[] {
  const names = [...files.keys()].filter((name) => SIGNATURE.test(name));
  if (names.length === 0) return [];
  const isThere =
    spawnSync('ssh-keygen', ['-?'], { timeout: TIMEOUT_MS, env: sshSurroundings() }).error === undefined;
  const some = isThere ? names.slice(0, MAX_CHECKED) : [];
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
    { severity: 'limit', stream, code: 'approval.unchecked', shortMessage: `${what} not checked: ${why}` },
  ];
}

/** It must sign this text with the recorded key, by a signer of the recorded line, valid at that time. */
function isGood(files: BundleFiles, name: string): boolean {
  const text = files.get(`${SIGNATURE.exec(name)?.[1] ?? ''}.txt`);
  const signer = files.get(name.replace(/\.sig$/u, '.signer'));
  const [, names = '', at = '', key] = SIGNER.exec(signer?.toString('utf8') ?? '') ?? [];
  const seen = dateAt(msOf(at));
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
