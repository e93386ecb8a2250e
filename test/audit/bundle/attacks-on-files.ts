import { canonicalBody } from '../../../src/store/canonical.ts';
import { endorsementOf } from '../../../src/store/log/named-keys.ts';
import {
  type Attack,
  editFile,
  editProof,
  type Files,
  linesIn,
  listAnew,
  makeAnew,
  proveAnew,
  textOf,
} from './attack.ts';
import { OTHER, RUN } from './scene.ts';

const APPROVAL = 'approvals/00112233445566ff.txt';

/** Only the proof is changed, as anyone without a key can. */
const WRONG_PROOFS: Readonly<Record<string, (files: Files) => void>> = {
  'a bit of a hash': (files) =>
    editProof(files, ({ nodes }) =>
      nodes.splice(
        1,
        1,
        (nodes[1] ?? '').replace(/^./u, (digit) => (digit === '0' ? '1' : '0')),
      ),
    ),
  'a hash too many': (files) => editProof(files, ({ nodes }) => nodes.push(nodes[0] ?? '')),
  'a hash too few': (files) => editProof(files, ({ nodes }) => nodes.pop()),
  'no hash': (files) => editProof(files, ({ nodes }) => nodes.splice(0)),
  'two hashes in the other order': (files) => editProof(files, ({ nodes }) => nodes.reverse()),
  'a hash that is shorter': (files) =>
    editProof(files, ({ nodes }) => nodes.splice(0, 1, (nodes[0] ?? '').slice(2))),
  'a hash in capitals': (files) =>
    editProof(files, ({ nodes }) => nodes.splice(0, 1, (nodes[0] ?? '').toUpperCase())),
  'two leaves in the other order': (files) =>
    editProof(files, ({ leaves }) => leaves['journal.jsonl']?.reverse()),
  'a leaf moved to a place beside it': (files) =>
    editProof(files, ({ leaves }) => leaves['journal.jsonl']?.splice(8, 1, 11)),
  'a leaf behind the end of the log': (files) =>
    editProof(files, ({ leaves }) => leaves['journal.jsonl']?.splice(8, 1, 21)),
  'a leaf before its beginning': (files) =>
    editProof(files, ({ leaves }) => leaves['journal.jsonl']?.splice(0, 1, -1)),
  'half a leaf': (files) => editProof(files, ({ leaves }) => leaves['journal.jsonl']?.splice(0, 1, 0.5)),
  'a place without a line': (files) => editProof(files, ({ leaves }) => leaves['journal.jsonl']?.push(20)),
  'a line without a place': (files) => editProof(files, ({ leaves }) => leaves['journal.jsonl']?.pop()),
  'two lines in one place': (files) =>
    editProof(files, ({ leaves }) => leaves['journal.jsonl']?.splice(1, 1, 1)),
  'a file that is not there': (files) =>
    editProof(files, ({ leaves }) => {
      leaves['ledger/billing.jsonl'] = [20];
    }),
  'another size': (files) => editProof(files, ({ sizes }) => sizes.splice(-1, 1, 16)),
  'a size that is none': (files) => editProof(files, ({ sizes }) => sizes.push(0)),
  'one size less': (files) => editProof(files, ({ sizes }) => sizes.pop()),
  'a key that stands there twice': (files) =>
    files.set(
      'proof.json',
      Buffer.from(textOf(files, 'proof.json').replace('"sizes":', '"sizes":[1],"sizes":')),
    ),
  'a space': (files) => files.set('proof.json', Buffer.from(`${textOf(files, 'proof.json')} `)),
  'no JSON': (files) => files.set('proof.json', Buffer.from('{"leaves":')),
};

/** The same bytes to a lenient base64 reader. */
const RESPELLED: Readonly<Record<string, (base64: string) => string>> = {
  'spare bits': (base64) => {
    const last = base64.charCodeAt(base64.length - 2);
    return `${base64.slice(0, -2)}${String.fromCharCode(last + 1)}=`;
  },
  'without padding': (base64) => base64.slice(0, -1),
  'more padding': (base64) => `${base64}=`,
  'a character that is no digit': (base64) => `${base64.slice(0, 9)}.${base64.slice(9)}`,
};

/**
 * Attacks on everything around the entries: proof, checkpoints, transcript, report, the list of files, keys.
 */
export const ATTACKS_ON_FILES: readonly Attack[] = [
  ...Object.entries(WRONG_PROOFS).flatMap(([title, change]): Attack[] => [
    { title: `in the proof, ${title}`, foundBy: ['itself'], bundle: change },
    {
      title: `in the proof, ${title}, the list signed anew by the installation itself`,
      foundBy: ['itself'],
      bundle(files, { insider }) {
        change(files);
        listAnew(files, insider);
      },
    },
  ]),
  {
    title: 'the proof of another bundle',
    foundBy: ['itself'],
    bundle(files, { other, insider }) {
      files.set('proof.json', other.get('proof.json') ?? Buffer.alloc(0));
      listAnew(files, insider);
    },
  },
  ...[
    'report.md',
    'machine.json',
    APPROVAL,
    'ledger/orders.jsonl',
    'checkpoint.note',
    'checkpoints/1.note',
  ].flatMap((name): Attack[] => [
    { title: `an edited ${name}`, foundBy: ['itself'], bundle: (files) => editFile(files, name) },
    {
      title: `an edited ${name}, the list of files made to fit`,
      foundBy: ['itself'],
      bundle(files) {
        editFile(files, name);
        listAnew(files);
      },
    },
    { title: `a deleted ${name}`, foundBy: ['itself'], bundle: (files) => void files.delete(name) },
    {
      title: `a deleted ${name}, the list of files made to fit`,
      foundBy: ['itself'],
      bundle(files) {
        files.delete(name);
        listAnew(files);
      },
    },
  ]),
  ...[
    'transcript.jsonl',
    APPROVAL,
    'checkpoints/1.note',
    'checkpoint.note',
    'ledger/orders.jsonl',
    'log.jsonl',
  ].map(
    (name): Attack => ({
      title: `an edited ${name}, the list signed anew by the installation itself`,
      foundBy: ['itself'],
      bundle(files, { insider }) {
        editFile(files, name);
        listAnew(files, insider);
      },
    }),
  ),
  ...['transcript.jsonl', APPROVAL, 'proof.json', 'checkpoint.note'].map(
    (name): Attack => ({
      title: `a deleted ${name}, the list signed anew by the installation itself`,
      foundBy: ['itself'],
      bundle(files, { insider }) {
        files.delete(name);
        listAnew(files, insider);
      },
    }),
  ),
  ...['journal.jsonl', 'manifest.note', 'transcript.jsonl', 'SHA256SUMS'].map(
    (name): Attack => ({
      title: `${name} of another bundle`,
      foundBy: ['itself'],
      bundle: (files, { other }) =>
        void files.set(
          name,
          Buffer.concat([
            other.get(name) ?? Buffer.alloc(0),
            Buffer.from(name === 'transcript.jsonl' ? ' ' : ''),
          ]),
        ),
    }),
  ),
  {
    title: 'the list and its note of another bundle',
    foundBy: ['itself'],
    bundle(files, { other }) {
      for (const name of ['SHA256SUMS', 'manifest.note']) files.set(name, other.get(name) ?? Buffer.alloc(0));
    },
  },
  {
    title: 'an older checkpoint in the place of the newest',
    foundBy: ['itself'],
    bundle(files, { insider }) {
      files.set('checkpoint.note', files.get('checkpoints/1.note') ?? Buffer.alloc(0));
      listAnew(files, insider);
    },
  },
  {
    title: 'a checkpoint of the same size with another root, signed by the installation itself',
    foundBy: ['itself'],
    bundle(files, { insider }) {
      const [origin = '', size] = textOf(files, 'checkpoint.note').split('\n');
      const root = '0'.repeat(64);
      files.set(
        'checkpoint.note',
        Buffer.from(insider.sign({ origin, size: Number(size), root, armed: [] })),
      );
      listAnew(files, insider);
    },
  },
  {
    title: 'a checkpoint of another log',
    foundBy: ['itself'],
    bundle(files, { insider }) {
      const [, size, root = ''] = textOf(files, 'checkpoint.note').split('\n');
      const claim = { size: Number(size), root: Buffer.from(root, 'base64').toString('hex'), armed: [] };
      files.set(
        'checkpoint.note',
        Buffer.from(insider.sign({ ...claim, origin: 'lifeboat/0123456789abcdef' })),
      );
      listAnew(files, insider);
    },
  },
  {
    title: 'a checkpoint that another key has signed',
    foundBy: ['itself'],
    bundle(files, { forger, insider }) {
      const [origin = '', size, root = ''] = textOf(files, 'checkpoint.note').split('\n');
      const claim = { size: Number(size), root: Buffer.from(root, 'base64').toString('hex'), armed: [] };
      files.set('checkpoint.note', Buffer.from(forger.sign({ ...claim, origin })));
      listAnew(files, insider);
    },
  },
  ...[false, true].map(
    (isListed): Attack => ({
      title: `an added file${isListed ? ', the list of files made to fit' : ''}`,
      foundBy: ['itself'],
      bundle(files) {
        files.set('notes.txt', Buffer.from('all was well'));
        if (isListed) listAnew(files);
      },
    }),
  ),
  {
    title: 'a ledger twice',
    foundBy: ['itself'],
    async bundle(files, tools) {
      files.set('ledger/again.jsonl', files.get('ledger/orders.jsonl') ?? Buffer.alloc(0));
      await proveAnew(files, tools, (leaves) => {
        leaves['ledger/again.jsonl'] = leaves['ledger/orders.jsonl'] ?? [];
      });
      listAnew(files, tools.insider);
    },
  },
  { title: 'no list of files', foundBy: ['itself'], bundle: (files) => void files.delete('SHA256SUMS') },
  { title: 'an edited list of files', foundBy: ['itself'], bundle: (files) => editFile(files, 'SHA256SUMS') },
  {
    title: 'a list without its note',
    foundBy: ['itself'],
    bundle: (files) => void files.delete('manifest.note'),
  },
  ...Object.entries(RESPELLED).map(
    ([title, spell]): Attack => ({
      title: `a signature of the list in another spelling: ${title}`,
      foundBy: ['itself'],
      bundle: (files) => {
        const note = String(files.get('manifest.note'));
        files.set('manifest.note', Buffer.from(note.replace(/\S+=(?=\n$)/u, spell)));
      },
    }),
  ),
  {
    title: 'a note that names another run',
    foundBy: ['itself'],
    bundle: (files) =>
      void files.set('manifest.note', Buffer.from(textOf(files, 'manifest.note').replaceAll(RUN, OTHER))),
  },
  ...(['beside', 'instead of'] as const).map(
    (where): Attack => ({
      title: `a report edited, the list signed with another key, which lies ${where} the first`,
      foundBy: ['key'],
      bundle(files, { forger }) {
        editFile(files, 'report.md');
        const first = where === 'beside' ? textOf(files, 'lifeboat.pub') : '';
        files.set('lifeboat.pub', Buffer.from(first + forger.publicKey));
        listAnew(files, forger);
      },
    }),
  ),
  {
    title: 'a key endorsed by an entry that is not in the log',
    foundBy: ['itself'],
    bundle(files, { forger, insider }) {
      const origin = textOf(files, 'checkpoint.note').split('\n')[0] ?? '';
      const note = endorsementOf(forger.publicKey, origin, forger);
      const body = canonicalBody({ note, reason: 'x' }, 'it');
      const line = `{"at":"2026-01-01T00:00:00.000Z","body":${body},"by":"mallory","seq":2,"stream":"store/log","type":"key.endorsed"}`;
      files.set('log.jsonl', Buffer.from(`${linesIn(files, 'log.jsonl')[0]}\n${line}\n`));
      editProof(files, ({ leaves }) => leaves['log.jsonl']?.push(11));
      listAnew(files, insider);
    },
  },
  {
    title: 'everything made anew with another key',
    foundBy: ['key', 'anchor'],
    bundle: (files, { forger, size }) => makeAnew(files, forger, size),
  },
  {
    title: 'another public key',
    foundBy: ['itself'],
    bundle: (files, { forger }) => files.set('lifeboat.pub', Buffer.from(forger.publicKey)),
  },
  { title: 'no public key', foundBy: ['itself'], bundle: (files) => void files.delete('lifeboat.pub') },
];
