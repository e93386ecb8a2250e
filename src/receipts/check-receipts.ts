import { hash } from 'node:crypto';
import * as z from 'zod';
import type { AuditedLog } from '../audit/audit-places.ts';
import type { Findings } from '../audit/verdict.ts';
import { counted } from '../base/format.ts';
import { BUNDLE_FILE, KEY_FILE, PAE_FILE, SIGNATURE_FILE } from '../base/receipt-files.ts';
import { show } from '../base/text.ts';
import { LOG_STREAM } from '../store/journal.ts';
import { keyHash, type MadeReceipt, type NamedReceiptKey, receiptKeysIn, receiptsIn } from './log-entries.ts';
import { openReceipt, type ReadReceipt } from './sigstore-bundle.ts';

/** A folder that a receipt was written into. */
export interface ReceiptFolder {
  readonly path: string;
  /** One of its small files; undefined where it is missing. */
  file(name: string): Buffer | undefined;
  /** SHA-256 of any of its files, 64 hex digits; undefined where it is missing. */
  digest(name: string): string | undefined;
}

export const CheckedReceipt = z.object({
  about: z.string().optional().describe('run/ID, or evaluation/NAME; evaluation/* for all'),
  sha256: z.string().describe('SHA-256 of the receipt, 64 hex digits'),
  path: z.string().optional().describe('the folder that it was found in'),
  state: z
    .enum(['verified', 'limited', 'wrong', 'not-given'])
    .describe('limited: nothing is wrong, but not all is shown; not-given: its files are not here'),
});
export type CheckedReceipt = Readonly<z.infer<typeof CheckedReceipt>>;

/**
 * Checks receipts against the log: it has the hash of each, a believed key of the log vouches for the key
 * that signed it, and the files beside it are its own. Without its folder, only that key is checked. Findings
 * for any content; returns each receipt on record or found.
 */
export function checkReceipts(
  log: AuditedLog,
  folders: readonly ReceiptFolder[],
  findings: Findings,
): readonly CheckedReceipt[] {
  const made = receiptsIn(log.entries);
  const keys = receiptKeysIn(log.entries, log.origin, log.believed);
  const seqs = new Map(made.map(({ key, seq }) => [key, seq]));
  for (const [key, { seq }] of keys) seqs.set(key, seq);
  for (const [key, seq] of seqs) checkKey(key, seq, keys.get(key), findings);
  const found = folders.map((folder) => checkFolder(folder, made, keys, findings));
  const rest = made.filter(({ sha256 }) => !found.some((one) => one.sha256 === sha256));
  if (rest.length > 0) {
    const files = `the files of ${counted(rest.length, 'receipt')} on record were not given`;
    findings.note('receipt.not-given', `${files}: pass --receipts FOLDER`);
  }
  const notGiven = rest.map((one) => ({
    about: aboutOf(one),
    sha256: one.sha256,
    state: 'not-given' as const,
  }));
  return [...found, ...notGiven];
}

/** Whether the log vouches for a receipt key; said once for all its receipts. */
function checkKey(key: string, seq: number, named: NamedReceiptKey | undefined, findings: Findings): void {
  const which = `receipt key ${key.slice(0, 12)}`;
  const where = { stream: LOG_STREAM, seq };
  switch (named?.endorsement) {
    case 'signed':
      return;
    case 'bad-signature':
    case 'unreadable':
      findings.problem('receipt.endorsement', `what vouches for ${which} was changed`, where);
      return;
    case 'unknown-key':
      findings.limit('receipt.unvouched', `only a key that is not trusted vouches for ${which}`, where);
      return;
    default:
      findings.limit('receipt.unvouched', `nothing in the log vouches for ${which}`, where);
  }
}

function checkFolder(
  folder: ReceiptFolder,
  made: readonly MadeReceipt[],
  keys: ReadonlyMap<string, NamedReceiptKey>,
  findings: Findings,
): CheckedReceipt {
  const said = saidOf(show(folder.path, 200), findings);
  const bundle = folder.file(BUNDLE_FILE);
  const sha256 = hash('sha256', bundle ?? '');
  const known = made.find((one) => one.sha256 === sha256);
  const beside = folder.file(KEY_FILE)?.toString('utf8');
  const opened = bundle && openWith(bundle.toString('utf8'), known?.key, keys, beside);
  switch (opened?.outcome) {
    case undefined:
      said.limit('receipt.missing-file', `without ${BUNDLE_FILE}, nothing here was verified`);
      break;
    case 'no-key':
      said.limit('receipt.missing-file', `without ${KEY_FILE}, its signature was not verified`);
      break;
    case 'other-key':
      said.problem('receipt.other-key', 'the receipt is signed by another key than the log has for it');
      break;
    case 'bad-signature':
      said.problem('receipt.changed', 'the receipt was changed: its signature does not match');
      break;
    case 'bad-key':
    case 'unreadable':
    case 'no-receipt':
      said.problem('receipt.unreadable', `${BUNDLE_FILE} is not a receipt`);
      break;
    case 'signed':
      if (known === undefined)
        said.limit('receipt.not-on-record', 'its signature matches, but this log has no entry of it');
      if (beside !== undefined && hashOf(beside) !== opened.key)
        said.problem('receipt.other-key', `${KEY_FILE} is not the key that signed the receipt`);
      checkFiles(folder, opened, said);
      break;
    default:
      opened satisfies never;
  }
  const isVouched = opened?.outcome === 'signed' && keys.get(opened.key)?.endorsement === 'signed';
  const state = said.state();
  return {
    ...(known === undefined ? {} : { about: aboutOf(known) }),
    ...{ sha256, path: show(folder.path, 200) },
    // A key without an endorsement is reported once for all its receipts.
    state: state === 'verified' && !isVouched ? 'limited' : state,
  };
}

function saidOf(path: string, findings: Findings) {
  let state: 'verified' | 'limited' | 'wrong' = 'verified';
  return {
    problem(code: string, what: string) {
      state = 'wrong';
      findings.problem(code, `${path}: ${what}`);
    },
    limit(code: string, what: string) {
      if (state === 'verified') state = 'limited';
      findings.limit(code, `${path}: ${what}`);
    },
    note: (code: string, what: string) => findings.note(code, `${path}: ${what}`),
    state: () => state,
  };
}

/** Whether the files beside a receipt are its own. The first subject is what it is about. */
function checkFiles(
  folder: ReceiptFolder,
  { pae, signature, statement: { subject: subjects } }: Signed,
  said: ReturnType<typeof saidOf>,
): void {
  for (const [name, bytes] of [
    [PAE_FILE, pae],
    [SIGNATURE_FILE, signature],
  ] as const)
    if (folder.file(name)?.equals(bytes) === false)
      said.problem('receipt.changed', `${name} is not what the receipt has`);
  const [first] = subjects;
  for (const [name, alike] of Map.groupBy(subjects, (subject) => subject.name)) {
    const shown = show(name, 100);
    const here = PLAIN_NAME.test(name) ? folder.digest(name) : undefined;
    if (here === undefined && name === first?.name)
      said.limit('receipt.missing-file', `without ${shown}, only the signature was verified`);
    else if (here === undefined)
      said.note('receipt.not-beside', `${shown} is not here, so it was not compared`);
    else if (!alike.some(({ digest }) => digest.sha256 === here))
      said.problem('receipt.other-file', `${shown} was changed: it is not what the receipt is about`);
  }
}

/** Names without a folder: a signed statement may come from another key store. */
const PLAIN_NAME = /^\w[\w.-]{0,99}$/u;

type Opened = Exclude<ReadReceipt, { outcome: 'signed' }> | { readonly outcome: 'no-key' } | Signed;
type Signed = Extract<ReadReceipt, { outcome: 'signed' }> & { readonly key: string };

/** Opens a receipt with the key that is on record for it, or with any key that the log names. */
function openWith(
  bundle: string,
  onRecord: string | undefined,
  keys: ReadonlyMap<string, NamedReceiptKey>,
  beside: string | undefined,
): Opened {
  let read: Opened = { outcome: onRecord === undefined ? 'other-key' : 'no-key' };
  for (const key of onRecord === undefined ? keys.keys() : [onRecord]) {
    const pem = keys.get(key)?.publicKey ?? (hashOf(beside) === key ? beside : undefined);
    if (pem === undefined) continue;
    const opened = openReceipt(bundle, pem);
    if (opened.outcome === 'signed') return { ...opened, key };
    if (opened.outcome !== 'other-key' || read.outcome === 'no-key') read = opened;
  }
  return read;
}

function hashOf(publicKey: string | undefined): string | undefined {
  try {
    return publicKey === undefined ? undefined : keyHash(publicKey);
  } catch {
    return undefined;
  }
}

function aboutOf(made: MadeReceipt): string {
  return 'run' in made ? `run/${show(made.run, 60)}` : `evaluation/${show(made.evaluation, 80)}`;
}
