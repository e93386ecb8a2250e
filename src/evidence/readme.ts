import { opensslLines, REPORT_FILE } from '../base/receipt-files.ts';
import { daysOf, type Span } from './period.ts';

export interface InPack {
  readonly hasReceipts: boolean;
  /** Undefined where nothing is signed; else how a signed part is checked by hand. */
  readonly byHand: string | undefined;
}

export function readmeOf(span: Span, { hasReceipts, byHand }: InPack): string {
  const { first, last } = daysOf(span);
  return `Evidence from ${first} to ${last}, both days included, in UTC

  index.html         begin here: what was done, what is missing, what this cannot show
  index.json         the same for programs (lifeboat.evidence/1)
  runs/RUN/          of each run: report.html and report.json, every entry of it in journal.jsonl, what it
                     sent in transcript.jsonl, plan.txt
  ledger/            every entry of each instance and plan: keys, proofs, evaluations, findings
  runbooks/          the states and transitions of each runbook in the version that was run
  drills/DRILL/      the report of each drill, and the same as here of its record
  log.jsonl, checkpoint.note, checkpoints/, proof.json
                     the log that all of these entries are leaves of, signed, and the proof
  approvals/         what a second person was asked to approve, and the signatures
  verify.mjs         checks all of it; for Node 18 or newer, short enough to read first
  lifeboat.pub       the key that signs
  SHA256SUMS         the SHA-256 of every file here but itself and manifest.note, which signs it

A pack is only as good as what it is compared with: ask for the key (lifeboat audit key), or for
anchors from tickets of the time, over another channel than the one that this pack came by.

1. Nothing here was changed since it was packed:

     sha256sum -c SHA256SUMS

   Keep the SHA-256 of SHA256SUMS itself elsewhere; whoever changes a file can change the list.
${byHand === undefined ? UNSIGNED : SIGNED}${hasReceipts ? RECEIPTS : ''}
Reports and index are computed from the record by the program that made this pack. What counts is
the record: anybody can compute it again.
${byHand === undefined ? '' : `\n${byHand}`}`;
}

const SIGNED = `
2. What it says is what was recorded, here and in each drills/DRILL with a manifest.note:

     node verify.mjs --public-key KEY.pub
     node verify.mjs drills/DRILL --public-key KEY.pub

   KEY.pub is the key that you got elsewhere. It ends with 0 (intact), 3 (consistent, and it says
   what is not pinned) or 1 (not intact). \`lifeboat audit verify FOLDER\` says the same.
`;

const UNSIGNED = `
2. There is no manifest.note here, so nothing here is signed but what is below drills/DRILL with one:
   index.html says why.
`;

const RECEIPTS = `
3. A receipt says in one signed statement what a run proved, in runs/RUN/receipt:

     ${opensslLines(REPORT_FILE).join('\n     ')}

   It is about the report.json beside it, in the same folder. Compare the key with the one that this prints:

     lifeboat audit key --receipts
`;
