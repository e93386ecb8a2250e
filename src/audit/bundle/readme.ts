/** What is in a bundle and how to verify it by hand, for whoever opens it in ten years. */
export function bundleReadme(runId: string, anchor: string, late: string | undefined): string {
  const limit = late === undefined ? '' : `\nNo head was signed behind them before: ${late}.\n`;
  return `Evidence of the run ${runId}

  journal.jsonl      every entry of the run, hash-chained; the last line is its signed head
  ledger/            the same of each instance that the run wrote to: keys, cards, proofs
  checkpoints/       signed heads from the time of the run (c2sp.org/tlog-checkpoint)
  report.md          the record for people; also as report.json and report.html where they are present
  plan.txt           what such a run is planned to do, step by step
  machine.json       the states and ways of the runbook in the version that was used; machine.mmd draws them (Mermaid)
  approvals/         what a second person was asked to approve, and the signatures
  transcript.jsonl   every request of the run with its answer, secrets left out or replaced by fingerprints
  tools.json         the versions of everything that took part
  lifeboat.pub       the public key of the installation, ed25519
  verify.mjs         a verifier in one file, for Node 18 or newer
  SHA256SUMS         of all of these
  manifest.json      the list of all files with size and SHA-256; manifest.note signs it

A key is named by a fingerprint, which is made with a secret of the key store that it lies in: another store has another one for the same key.

Verify it

  node verify.mjs                                     in this folder, unpacked
  node verify.mjs --public-key FILE --anchor TEXT     with what you have got from elsewhere

Without a key or an anchor from elsewhere this proves only that the bundle agrees with itself. verify.mjs comes with the bundle, too: whoever
made a false one could make a false verifier. Read it, or take that of another bundle, or \`lifeboat audit verify\`. The anchor of this run is

  ${anchor}

and should stand in the ticket of the recovery: lifeboat:RUN:ENTRIES:FIRST 20 DIGITS OF THE HASH OF THE LAST ENTRY:CHECK, where
CHECK is the beginning of the SHA-256 of what stands before it. An anchor pins the entries up to its number; report, plan, ledgers and transcript are
pinned by the key alone. With the key alone it stays open whether there is a later state of the run.
${limit}
By hand, with tools of the system

  sha256sum -c SHA256SUMS
  head -n 3 manifest.note > text                      # what is signed: origin, size of manifest.json, its SHA-256 in base64
  openssl dgst -sha256 -binary manifest.json | base64 # the same as the third line of it
  tail -n 1 manifest.note | cut -d' ' -f3 | base64 -d | tail -c 64 > signature
  openssl pkeyutl -verify -pubin -inkey lifeboat.pub -rawin -in text -sigfile signature

Each entry's hash is the SHA-256 over the hash before it (64 zeros before the first), a line feed and the canonical JSON (RFC 8785) of
[stream, seq, at, by, type, body].

An approval is checked with OpenSSH. NAME is one of the names in the first line of the .signer file; the line below it is the one that
allowed the key then, from the file of allowed signers. Compare it with the one that you have for this person.

  ssh-keygen -Y verify -f approvals/X.N.signer -I NAME -n lifeboat-approval -s approvals/X.N.sig < approvals/X.txt

Where the key was valid for a time only, add -Overify-time=YYYYMMDDhhmmss with the time of the first line, in the zone of your machine.
`;
}
