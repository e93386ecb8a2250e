import { rm } from 'node:fs/promises';
import type { InputOf } from '../../machines/verbs.ts';
import type { VerifyReport } from '../backup/backup-file.ts';
import { type Candidate, nearMiss, probe, probeKeys } from '../backup/probe.ts';
import { verifyFile } from '../backup/verify-file.ts';
import { counted, formatBytes } from '../base/format.ts';
import { type HeldKey, heldKeys } from '../keys/keyring.ts';
import { UNOPENED } from '../store/projections/ledgers.ts';
import {
  type ActivityContext,
  type ActivityOf,
  type ActivityResult,
  asJson,
  type LedgerFact,
  no,
  ok,
  readVerb,
} from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { readHead } from './download-part.ts';
import { proofFact } from './records.ts';

const AGAIN = 'try again: it is downloaded from the beginning';

/**
 * Tries the held keys, the expected one first, and reads the file to its last byte with the one that opens
 * it. Another key than the expected one is a result, not a failure: the ledger gets `key.refuted`, and the
 * machine decides. An expected key that is not held is not refuted: the one that opens may be the same key
 * under this key store's name. With `record`, the ledger also gets `key.proven`. A backup that cannot be
 * proven is a failure, and the ledger gets `backup.unopened`: from then on it does not count as recoverable.
 * With `discard`, the file is deleted once the result is on record; it stays if the process dies between the
 * two or the result is a failure.
 */
export function verifyBackup(deps: ActivityDeps): ActivityOf<'verifyBackup'> {
  return readVerb(async (input, context) => {
    const { path, expected, discard, record: backup } = input;
    const since = context.now().getTime();
    const candidates = await heldKeys(deps.keyring, context.instance, expected);
    const head = await readHead(path, [AGAIN]);
    const found = probeKeys(head, candidates);
    const unopened = (failure: ActivityResult<never>) => {
      const tried = candidates.map(fingerprintOf);
      return withFact(failure, { run: context.runId, backup: { id: input.backup }, tried });
    };
    if (found.result === 'not-a-backup') return unopened(notEncrypted(found.looksLike));
    const opener = candidates.find(
      ({ fingerprint }) => found.result === 'fits' && fingerprint === found.fingerprint,
    );
    if (opener === undefined)
      return unopened(noKeyOpens(candidates, input.backup, nearMiss(head, candidates)));
    const report = await verifyFile(path, {
      key: opener.key,
      signal: context.signal,
      onProgress: (done, total) => context.report({ kind: 'bytes', done, total, what: 'reading the backup' }),
    });
    if (!report.ok) return unopened(notGood(report));
    const seconds = (context.now().getTime() - since) / 1000;
    const { ok: _, entries, ...read } = report;
    const opens = opener.fingerprint;
    const shrunkFrom = await largerBefore(deps, input.backup, read.contentBytes);
    const verification = {
      ...{ ...read, ...(entries === undefined ? {} : { entries }), opens, seconds },
      ...(shrunkFrom === undefined ? {} : { shrunkFrom }),
    };
    if (backup !== undefined && shrunkFrom !== undefined)
      return muchSmaller(input.backup, read.contentBytes, shrunkFrom);
    const facts = [
      ...(backup === undefined ? [] : [proofFact(opens, { run: context.runId, backup, verification })]),
      ...refutation(opens, candidates, input, context),
    ];
    return { ...ok(verification, facts), ...(discard ? { recorded: () => rm(path, { force: true }) } : {}) };
  });
}

/** With less than this share of the last proven one's content, much of the data may be missing. */
const SHRUNK = 0.5;

/** The newest other proven backup, if it held more than twice as much. Old proofs have no size. */
async function largerBefore(deps: ActivityDeps, backup: number, contentBytes: number) {
  const { proven } = await deps.ledger();
  const last = proven.find((one) => one.id !== backup && one.contentBytes !== undefined);
  if (last?.contentBytes === undefined || contentBytes >= last.contentBytes * SHRUNK) return undefined;
  return { id: last.id, contentBytes: last.contentBytes };
}

/** A proof is not recorded automatically then: a person has to agree. */
function muchSmaller(
  id: number,
  bytes: number,
  before: { readonly id: number; readonly contentBytes: number },
) {
  const held = `backup ${before.id}, the last proven one, held ${formatBytes(before.contentBytes)}`;
  return no('backup.much-smaller', `backup ${id} holds ${formatBytes(bytes)}; ${held}`, {
    hints: ['find out what is missing before you rely on it'],
    evidence: { contentBytes: bytes, before: { ...before } },
  });
}

function withFact(
  result: ActivityResult<never>,
  body: {
    readonly run: string;
    readonly backup: { readonly id: number };
    readonly tried: readonly string[];
  },
): ActivityResult<never> {
  if (result.ok) return result;
  const fact = { type: UNOPENED, body: asJson({ ...body, code: result.failure.code }) };
  return { ...result, ledger: [fact] };
}

function notEncrypted(looksLike: string) {
  if (looksLike === 'gzip')
    return no('backup.not-encrypted', 'the backup is not encrypted: no key is needed, so none is proven', {
      hints: [
        'keep the file away from others: anyone can read it',
        'set an encryption key, then make another',
      ],
    });
  const words = `the file is not an encrypted backup; it looks like: ${looksLike}`;
  return no('backup.not-a-backup', words, {
    hints: ['the service may have sent an error page; download it again'],
  });
}

function noKeyOpens(candidates: readonly Candidate[], backup: number, near: string | undefined) {
  return no(
    'backup.wrong-key',
    `no key held here opens backup ${backup}: ${counted(candidates.length, 'key')} tried`,
    {
      hints: [
        ...(near === undefined ? [] : [`${near}: rotate the key to one without a line end`]),
        'if another key was in force, add it to the key store, then verify once more',
        'a backup that was made before a key was set is encrypted with a key of the service',
      ],
      evidence: { tried: candidates.map(({ fingerprint }) => fingerprint) },
    },
  );
}

function notGood(report: Extract<VerifyReport, { ok: false }>) {
  const hints =
    report.problem === 'empty'
      ? ['make another backup', 'until one is proven, only an older proven one can be relied on']
      : report.problem === 'truncated' || report.problem === 'corrupt'
        ? ['download it again; if it is the same, the backup itself is damaged: make another']
        : [];
  return no(`backup.${report.problem}`, report.shortMessage, {
    hints,
    evidence: { cipherBytes: report.cipherBytes, cipherSha256: report.cipherSha256 ?? null },
  });
}

function refutation(
  opens: string,
  tried: readonly Candidate[],
  { expected, backup }: InputOf<'verifyBackup'>,
  { runId }: ActivityContext,
): LedgerFact[] {
  const isTried = tried.some(({ fingerprint }) => fingerprint === expected);
  if (expected === undefined || opens === expected || !isTried) return [];
  return [{ type: 'key.refuted', body: { fingerprint: expected, run: runId, backup: { id: backup } } }];
}

/**
 * In every key-derivation profile. No other key may open the backup: otherwise the rotation changed nothing.
 * A key that another key store named (`Keyring.adopt`) may also be held under this one's own name: that is
 * the same key.
 */
export function negativeTest(deps: ActivityDeps): ActivityOf<'negativeTest'> {
  return readVerb(async ({ path, except }, { instance }) => {
    const head = await readHead(path, ['put the file back there, then try again']);
    const held = await heldKeys(deps.keyring, instance);
    const tested = held.find(({ fingerprint }) => fingerprint === except);
    const ownName = tested && (await deps.keyring.fingerprint(tested.key));
    const others = held.filter(({ fingerprint }) => fingerprint !== except && fingerprint !== ownName);
    const opening = others.filter(({ key }) => probe(head, key).result === 'fits');
    return ok({ tested: others.map(fingerprintOf), opened: opening.map(fingerprintOf) });
  });
}

function fingerprintOf({ fingerprint }: HeldKey): string {
  return fingerprint;
}
