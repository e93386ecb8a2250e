import { generateKeyPairSync } from 'node:crypto';
import { watchJournal } from '../../src/audit/seal.ts';
import { Secret } from '../../src/secret.ts';
import { createSigner } from '../../src/store/log/signer.ts';
import { openSqliteJournal } from '../../src/store/sqlite-journal.ts';

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
