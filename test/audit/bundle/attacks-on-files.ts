import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Attack, editFile, listAnew } from './attack.ts';
import { forgeHome, forgeLines, rewrite } from './forging.ts';
import { ENTRIES, OTHER, RUN } from './scene.ts';

/** Attacks on what lies around the entries: transcripts, signed heads, reports, the list of files, keys, whole folders. */
export const ATTACKS_ON_FILES: readonly Attack[] = [
  {
    title: 'the whole home as it was yesterday',
    foundBy: ['anchor'],
    home: (home, { yesterday }) => {
      rmSync(home, { recursive: true });
      cpSync(yesterday, home, { recursive: true });
    },
  },
  {
    title: 'an edited transcript',
    foundBy: ['itself'],
    home: (home) =>
      rewrite(join(home, `transcripts/${RUN}.jsonl`), (text) => text.replace('"ms":7', '"ms":8')),
    bundle: (files) => editFile(files, 'transcript.jsonl'),
  },
  {
    title: 'the transcript of another run',
    foundBy: ['itself'],
    home: (home) =>
      rewrite(join(home, `transcripts/${RUN}.jsonl`), (text) => text.split('\n').toReversed().join('\n')),
    bundle: (files) => {
      files.set('transcript.jsonl', Buffer.from('{}\n'));
      listAnew(files);
    },
  },
  {
    title: 'a deleted transcript',
    foundBy: ['itself'],
    home: (home) => rmSync(join(home, `transcripts/${RUN}.jsonl`)),
    bundle: (files) => void files.delete('transcript.jsonl'),
  },
  {
    title: 'a signed head that was changed',
    foundBy: ['itself'],
    home: (home) =>
      rewrite(join(home, `checkpoints/run/${RUN}/latest.note`), (text) =>
        text.replace(`\n${ENTRIES}\n`, `\n${ENTRIES - 1}\n`),
      ),
    bundle: (files) => editFile(files, `checkpoints/run/${RUN}/latest.note`),
  },
  {
    title: 'the signed heads of another run',
    foundBy: ['itself'],
    home: (home) =>
      cpSync(join(home, `checkpoints/run/${OTHER}`), join(home, `checkpoints/run/${RUN}`), {
        recursive: true,
        force: true,
      }),
    bundle: (files, { other }) =>
      files.set(
        `checkpoints/run/${RUN}/latest.note`,
        other.get(`checkpoints/run/${OTHER}/latest.note`) ?? Buffer.alloc(0),
      ),
  },
  {
    title: 'a ledger without its last entry',
    foundBy: ['itself'],
    home: (home) => forgeHome(home, (rows) => rows.slice(0, -1), 'instance/orders'),
    bundle: (files) => forgeLines(files, (rows) => rows.slice(0, -1), 'ledger/orders.jsonl'),
  },
  ...[
    'report.md',
    'machine.json',
    'SHA256SUMS',
    'approvals/00112233445566ff.txt',
    'ledger/orders.jsonl',
  ].flatMap((name): Attack[] => [
    { title: `an edited ${name}`, foundBy: ['itself'], bundle: (files) => editFile(files, name) },
    {
      title: `an edited ${name}, the list of files made to fit`,
      foundBy: ['itself'],
      bundle: (files) => {
        editFile(files, name);
        listAnew(files);
      },
    },
    { title: `a deleted ${name}`, foundBy: ['itself'], bundle: (files) => void files.delete(name) },
    {
      title: `a deleted ${name}, the list of files made to fit`,
      foundBy: ['itself'],
      bundle: (files) => {
        files.delete(name);
        listAnew(files);
      },
    },
  ]),
  ...['journal.jsonl', 'manifest.json', 'manifest.note', 'transcript.jsonl', 'SHA256SUMS'].map(
    (name): Attack => ({
      title: `${name} of another bundle`,
      foundBy: ['itself'],
      bundle: (files, { other }) =>
        files.set(
          name,
          Buffer.concat([
            other.get(name) ?? Buffer.alloc(0),
            name === 'transcript.jsonl' ? Buffer.from(' ') : Buffer.alloc(0),
          ]),
        ),
    }),
  ),
  {
    title: 'manifest and its note of another bundle',
    foundBy: ['itself'],
    bundle: (files, { other }) => {
      for (const name of ['manifest.json', 'manifest.note'])
        files.set(name, other.get(name) ?? Buffer.alloc(0));
    },
  },
  ...['transcript.jsonl', 'approvals/00112233445566ff.txt', `checkpoints/run/${RUN}/latest.note`].map(
    (name): Attack => ({
      title: `an edited ${name}, the list signed anew by the installation itself`,
      foundBy: ['itself'],
      bundle: (files, { insider }) => {
        editFile(files, name);
        listAnew(files, insider);
      },
    }),
  ),
  {
    title: 'every signed head taken out, the list signed anew by the installation itself',
    foundBy: ['itself'],
    bundle: (files, { insider }) => {
      for (const name of files.keys()) if (name.startsWith('checkpoints/')) files.delete(name);
      listAnew(files, insider);
    },
  },
  {
    title: 'an added file',
    foundBy: ['itself'],
    bundle: (files) => files.set('notes.txt', Buffer.from('all was well')),
  },
  {
    title: 'an added file, the list of files made to fit',
    foundBy: ['itself'],
    bundle: (files) => {
      files.set('notes.txt', Buffer.from('all was well'));
      listAnew(files);
    },
  },
  { title: 'an edited manifest', foundBy: ['itself'], bundle: (files) => editFile(files, 'manifest.json') },
  {
    title: 'a manifest without its note',
    foundBy: ['itself'],
    bundle: (files) => void files.delete('manifest.note'),
  },
  { title: 'no manifest', foundBy: ['itself'], bundle: (files) => void files.delete('manifest.json') },
  {
    title: 'a manifest signed with another key, which lies beside it',
    foundBy: ['itself'],
    // The heads from the time of the run are still signed with the first one.
    bundle: (files, { forger }) => {
      editFile(files, 'report.md');
      files.set('lifeboat.pub', Buffer.from(forger.publicKey));
      listAnew(files, forger);
    },
  },
  {
    title: 'a manifest signed with another key, which lies beside the first',
    foundBy: ['key'],
    bundle: (files, { forger }) => {
      editFile(files, 'report.md');
      files.set(
        'lifeboat.pub',
        Buffer.concat([files.get('lifeboat.pub') ?? Buffer.alloc(0), Buffer.from(forger.publicKey)]),
      );
      listAnew(files, forger);
    },
  },
  {
    title: 'another public key',
    foundBy: ['itself'],
    bundle: (files, { forger }) => files.set('lifeboat.pub', Buffer.from(forger.publicKey)),
  },
  { title: 'no public key', foundBy: ['itself'], bundle: (files) => void files.delete('lifeboat.pub') },
];
