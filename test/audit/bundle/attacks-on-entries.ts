import { type Attack, type Files, linesIn, listAnew, makeAnew, proveAnew, type Tools } from './attack.ts';

/** A forger's change to the lines of a run. */
type Forgery = (lines: readonly string[]) => readonly string[];

const edited =
  (from: string | RegExp, to: string, at = 2): Forgery =>
  (lines) =>
    lines.map((line, index) => (index === at ? line.replace(from, to) : line));
/** Renumbers the entries. */
const numbered: Forgery = (lines) => lines.map((line, at) => line.replace(/"seq":\d+/u, `"seq":${at + 1}`));

/** The possible changes to the entries of a run. */
const FORGERIES: Readonly<Record<string, Forgery>> = {
  'an edited body': edited('"number":2', '"number":99'),
  'an edited first entry': edited('"LIVE"', '"DRILL"', 0),
  'an edited last entry': (lines) => edited('as it was', 'otherwise', lines.length - 1)(lines),
  'another person': edited('"by":"tester"', '"by":"mallory"'),
  'another time': edited(/"at":"20../u, '"at":"1999'),
  'another type': edited('"type":"note"', '"type":"answer"'),
  'a deleted entry': (lines) => lines.toSpliced(2, 1),
  'a deleted first entry': (lines) => lines.slice(1),
  'two deleted entries': (lines) => lines.toSpliced(2, 2),
  'an inserted entry': (lines) => lines.toSpliced(3, 0, (lines[2] ?? '').replace('"seq":3', '"seq":4')),
  'a repeated entry': (lines) => lines.toSpliced(3, 1, lines[2] ?? ''),
  'two entries in the other order': (lines) => lines.with(2, lines[3] ?? '').with(3, lines[2] ?? ''),
  'the entries backwards': (lines) => lines.toReversed(),
};

/** Lines with the same meaning to a parser, or different meanings to two readers. */
const SPELLINGS: Readonly<Record<string, Forgery>> = {
  'a key that stands there twice': edited('"number":2', '"number":1,"number":2'),
  'a field that stands there twice': edited('"by":"tester"', '"by":"mallory","by":"tester"'),
  'a further field': edited(',"seq":', ',"extra":1,"seq":'),
  'a space': edited('"number":2', '"number": 2'),
  'another order of its keys': edited(/"number":2,"words":"[^"]*"/u, '"words":"as it was","number":2'),
  'a character that is not ASCII': edited('\\u00e4', 'ä'),
  'an escape in capitals': edited('\\u00e4', '\\u00E4'),
  'a needless escape': edited('as it was', 'as\\u0020it was'),
  'a carriage return': edited(/$/u, '\r'),
  'a megabyte more': edited('as it was', 'x'.repeat(9 * 1024 * 1024)),
};

function forge(files: Files, forgery: Forgery, name = 'journal.jsonl'): void {
  files.set(
    name,
    Buffer.from(
      forgery(linesIn(files, name))
        .map((line) => `${line}\n`)
        .join(''),
    ),
  );
}

/** As many places as there are lines: the previous ones, without those of removed lines. */
async function placeAnew(files: Files, tools: Tools): Promise<void> {
  await proveAnew(files, tools, (leaves) => {
    const count = linesIn(files, 'journal.jsonl').length;
    const places = leaves['journal.jsonl'] ?? [];
    leaves['journal.jsonl'] = places.length > count ? places.toSpliced(2, places.length - count) : places;
    // There is room for one more where the ledger's entry is.
    if (places.length < count) leaves['journal.jsonl'] = [...places, tools.size - 1].sort((a, b) => a - b);
  });
}

const CUTS: Readonly<Record<string, number>> = {
  'one entry': 1,
  'three entries': 3,
  'all but the first entry': 8,
};

/** Attacks on the entries of a run. */
export const ATTACKS_ON_ENTRIES: readonly Attack[] = [
  ...Object.entries({ ...FORGERIES, ...SPELLINGS }).flatMap(([title, forgery]): Attack[] => [
    { title, foundBy: ['itself'], bundle: (files) => forge(files, forgery) },
    {
      title: `${title}, proof and list of files made to fit`,
      foundBy: ['itself'],
      async bundle(files, tools) {
        forge(files, forgery);
        await placeAnew(files, tools);
        listAnew(files);
      },
    },
    {
      title: `${title}, proof made to fit, the list signed anew by the installation itself`,
      foundBy: ['itself'],
      async bundle(files, tools) {
        forge(files, forgery);
        await placeAnew(files, tools);
        listAnew(files, tools.insider);
      },
    },
  ]),
  ...Object.entries(FORGERIES).flatMap(([title, forgery]): Attack[] => [
    {
      title: `${title}, everything made anew with another key`,
      foundBy: ['key', 'anchor'],
      async bundle(files, { forger, size }) {
        forge(files, (lines) => numbered(forgery(lines)));
        await makeAnew(files, forger, size);
      },
    },
    {
      title: `${title}, everything made anew by the installation itself`,
      foundBy: ['anchor'],
      async bundle(files, { insider, size }) {
        forge(files, (lines) => numbered(forgery(lines)));
        await makeAnew(files, insider, size);
      },
    },
  ]),
  ...Object.entries(SPELLINGS).map(
    ([title, spelling]): Attack => ({
      title: `${title}, everything made anew by the installation itself`,
      foundBy: ['itself'],
      async bundle(files, { insider, size }) {
        forge(files, spelling);
        await makeAnew(files, insider, size);
      },
    }),
  ),
  ...Object.entries(CUTS).flatMap(([title, count]): Attack[] => [
    {
      title: `a tail of ${title} cut off`,
      foundBy: ['itself'],
      bundle: (files) => forge(files, (lines) => lines.slice(0, -count)),
    },
    {
      title: `a tail of ${title} cut off, proof and list of files made to fit`,
      foundBy: ['itself'],
      async bundle(files, tools) {
        forge(files, (lines) => lines.slice(0, -count));
        await proveAnew(files, tools, (leaves) => void leaves['journal.jsonl']?.splice(-count));
        listAnew(files);
      },
    },
  ]),
  {
    title: 'a last line that was cut in its middle',
    foundBy: ['itself'],
    bundle: (files) =>
      void files.set('journal.jsonl', (files.get('journal.jsonl') ?? Buffer.alloc(0)).subarray(0, -9)),
  },
  {
    title: 'the entries of another run, with their own proof',
    foundBy: ['itself'],
    async bundle(files, tools) {
      const { leaves: theirs } = JSON.parse(String(tools.other.get('proof.json')));
      files.set('journal.jsonl', tools.other.get('journal.jsonl') ?? Buffer.alloc(0));
      await proveAnew(files, tools, (leaves) => {
        leaves['journal.jsonl'] = theirs['journal.jsonl'];
      });
      listAnew(files, tools.insider);
    },
  },
  {
    title: 'an entry of another run among those of this one, in its number and place',
    foundBy: ['itself'],
    async bundle(files, tools) {
      const { leaves: theirs } = JSON.parse(String(tools.other.get('proof.json')));
      forge(files, (lines) => lines.with(8, linesIn(tools.other, 'journal.jsonl')[8] ?? ''));
      await proveAnew(
        files,
        tools,
        (leaves) => void leaves['journal.jsonl']?.splice(8, 1, theirs['journal.jsonl'][8]),
      );
      listAnew(files, tools.insider);
    },
  },
  {
    title: 'a ledger without its first entry',
    foundBy: ['itself'],
    async bundle(files, tools) {
      forge(files, (lines) => lines.slice(1), 'ledger/orders.jsonl');
      await proveAnew(files, tools, (leaves) => void leaves['ledger/orders.jsonl']?.splice(0, 1));
      listAnew(files, tools.insider);
    },
  },
  {
    title: 'a ledger in the place of the log',
    foundBy: ['itself'],
    async bundle(files, tools) {
      files.set('log.jsonl', files.get('ledger/orders.jsonl') ?? Buffer.alloc(0));
      files.delete('ledger/orders.jsonl');
      await proveAnew(files, tools, (leaves) => {
        leaves['log.jsonl'] = leaves['ledger/orders.jsonl'] ?? [];
        delete leaves['ledger/orders.jsonl'];
      });
      listAnew(files, tools.insider);
    },
  },
  ...['journal.jsonl', 'log.jsonl'].map(
    (name): Attack => ({
      title: `${name} deleted, the proof made to fit, the list signed anew by the installation itself`,
      foundBy: ['itself'],
      async bundle(files, tools) {
        files.delete(name);
        await proveAnew(files, tools, (leaves) => void delete leaves[name]);
        listAnew(files, tools.insider);
      },
    }),
  ),
];
