import { generateKeyPairSync } from 'node:crypto';
import { watchJournal } from '../../src/evidence/seal.ts';
import { createSigner } from '../../src/evidence/signer.ts';
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts';
import { Secret } from '../../src/secret.ts';

/** Appends once and leaves at once, closing nothing: `append-and-exit.ts HOME`. */
const home = process.argv[2] ?? '';
const { privateKey } = generateKeyPairSync('ed25519');
const journal = await openSqliteJournal({ home, by: 'tester' });
watchJournal(
  journal,
  createSigner(new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())),
  { home },
);
await journal.append([{ stream: 'run/a', type: 'note', body: null }]);
process.exit(0);
