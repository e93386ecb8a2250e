import { daysOf, type Span } from './period.ts';

/** What is in a pack, and how each part of it is checked without this program: readable in ten years. */
export function readmeOf(span: Span, { hasReceipts }: { readonly hasReceipts: boolean }): string {
  const { first, last } = daysOf(span);
  return `Evidence from ${first} to ${last}, both days included, in UTC

  index.html         begin here: what was done, what is missing, what this cannot show
  index.json         the same for programs (lifeboat.evidence/1)
  runs/RUN/          report.html and report.json of each run, bundle.tar with its signed record
  drills/DRILL/      the report of each drill; the runs of a drill are among the runs
  verify.mjs         checks a bundle; for Node 18 or newer, short enough to read first
  lifeboat.pub       the key that signs the bundles
  SHA256SUMS         the SHA-256 of every file here but itself

A pack is only as good as what it is compared with: ask for the key (lifeboat audit key), or for
anchors from tickets of the time, over another channel than the one that this pack came by.

1. Nothing here was changed since it was packed:

     sha256sum -c SHA256SUMS

   Keep the SHA-256 of SHA256SUMS itself elsewhere; whoever changes a file can change the list.

2. What a bundle says is what was recorded, for each RUN:

     mkdir bundle && tar -xf runs/RUN/bundle.tar -C bundle
     node verify.mjs bundle --public-key KEY.pub

   KEY.pub is the key that you got elsewhere. It ends with 0 (intact), 3 (consistent, and it says
   what is not pinned) or 1 (not intact). README.txt in the bundle says how to do it by hand. The
   run of a plan has one bundle for itself and every run that it started.

3. A report is what its bundle says: runs/RUN/report.json and report.json of the bundle are computed
   from the same entries, at two moments (\`generatedAt\`).
${hasReceipts ? RECEIPTS : ''}
Reports and index are computed from the record by the program that made this pack. What counts is
the record in the bundles: anybody can compute it again.
`;
}

const RECEIPTS = `
4. A receipt says in one signed statement what a run proved, in runs/RUN/receipt:

     openssl dgst -sha256 -verify lifeboat-receipts.pub -signature receipt.sig receipt.pae
     grep -F "$(openssl dgst -sha256 -r report.json | cut -c1-64)" receipt.pae

   It is about the report.json beside it. Compare the key with the one that this prints:

     lifeboat audit key --receipts
`;
