import type { Entry } from '../../journal/journal.ts';
import { readRunEntry } from '../../journal/run-entries.ts';

/**
 * The papers of a run's approvals, as files: what was to be approved (the signed text itself) and who signed it, with which key. They follow from the
 * entries alone, so an audit can tell whether they are those of the record.
 */
export function approvalFiles(entries: readonly Pick<Entry, 'seq' | 'type' | 'body'>[]): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const entry of entries) {
    const read = readRunEntry(entry);
    if (read?.type === 'approval.asked')
      files.set(`approvals/${fileName(read.body.challenge)}.txt`, Buffer.from(read.body.text));
    if (read?.type !== 'approval.given') continue;
    const { challenge, signature, publicKey, approver } = read.body;
    const base = `approvals/${fileName(challenge)}.${entry.seq}`;
    files.set(`${base}.sig`, Buffer.from(signature));
    // In the form of a file of allowed signers.
    files.set(`${base}.signer`, Buffer.from(`${approver} ${publicKey}\n`));
  }
  return files;
}

/** A challenge is 16 hex digits; anything else was written by a stranger. */
function fileName(challenge: string): string {
  return challenge.replace(/[^0-9a-zA-Z]/gu, '_').slice(0, 40);
}
