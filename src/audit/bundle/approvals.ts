import type { Entry } from '../../store/journal.ts';
import { readRunEntry } from '../../store/run-entries.ts';

/**
 * The documents of a run's approvals, as files: what was to be approved (the signed text itself), the
 * signature, and the line of the file of allowed signers that let it count, below a comment that says who
 * signed, when that was seen, and with which key. They follow from the entries alone, so an audit can tell
 * whether they are those of the record.
 */
export function approvalFiles(
  entries: readonly Pick<Entry, 'seq' | 'at' | 'type' | 'body'>[],
): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const entry of entries) {
    const read = readRunEntry(entry);
    if (read?.type === 'approval.asked')
      files.set(`approvals/${fileName(read.body.challenge)}.txt`, Buffer.from(read.body.text));
    if (read?.type !== 'approval.given') continue;
    const { challenge, signature, key, publicKey, approver, allowedBy, moment = entry.at } = read.body;
    const base = `approvals/${fileName(challenge)}.${entry.seq}`;
    files.set(`${base}.sig`, Buffer.from(signature));
    // In the form of a file of allowed signers, so that OpenSSH takes it.
    const line = oneLine(allowedBy ?? `${approver} ${publicKey}`);
    files.set(
      `${base}.signer`,
      Buffer.from(`${oneLine(`# approver: ${approver} at ${moment} with ${key}`)}\n${line}\n`),
    );
  }
  return files;
}

/** What is more than one line was written by a stranger. */
function oneLine(text: string): string {
  return text.replace(/[\r\n]+/gu, ' ');
}

/** A challenge is 16 hex digits; anything else was written by a stranger. */
function fileName(challenge: string): string {
  return challenge.replace(/[^0-9a-zA-Z]/gu, '_').slice(0, 40);
}
