import type { Row } from '../../../src/store/chain.ts';
import { type Attack, listAnew } from './attack.ts';
import { type Forgery, forgeHome, forgeLines, forgetHeads, rechained, resign } from './forging.ts';
import { ENTRIES, OTHER, RUN } from './scene.ts';

const at = (rows: readonly Row[], seq: number): Row => {
  const row = rows[seq - 1];
  if (row === undefined) throw new Error(`there is no entry ${seq}`);
  return row;
};
const edited =
  (change: Partial<Row>, seq = 3): Forgery =>
  (rows) =>
    rows.map((row) => (row.seq === seq ? { ...row, ...change } : row));

/** What can be done to the entries of a run; each alone, and with hashes and links made to fit. */
const FORGERIES: Readonly<Record<string, Forgery>> = {
  'an edited body': edited({ body: '{"number":99}' }),
  'an edited first entry': edited({ body: '{}' }, 1),
  'an edited last entry': (rows) => edited({ body: '{}' }, rows.length)(rows),
  'another person': edited({ by: 'Mallory' }),
  'another time': edited({ at: '2020-01-01T00:00:00.000Z' }),
  'another type': edited({ type: 'answer' }),
  'a deleted entry': (rows) => rows.filter(({ seq }) => seq !== 3),
  'a deleted first entry': (rows) => rows.slice(1),
  'two deleted entries': (rows) => rows.filter(({ seq }) => seq !== 3 && seq !== 4),
  'an inserted entry': (rows) => [
    ...rows.slice(0, 3),
    { ...at(rows, 3), seq: 4, body: '{"number":2.5}' },
    ...rows.slice(3).map((row) => ({ ...row, seq: row.seq + 1 })),
  ],
  'a repeated entry': (rows) => [...rows.slice(0, 3), { ...at(rows, 3), seq: 4 }, ...rows.slice(4)],
  'two entries in the other order': (rows) => [
    ...rows.slice(0, 2),
    { ...at(rows, 4), seq: 3 },
    { ...at(rows, 3), seq: 4 },
    ...rows.slice(4),
  ],
};

const CUTS: Readonly<Record<string, number>> = {
  'one entry': 1,
  'three entries': 3,
  'all but the first entry': ENTRIES - 1,
};

/** Attacks on what a run has written. */
export const ATTACKS_ON_ENTRIES: readonly Attack[] = [
  ...Object.entries(FORGERIES).flatMap(([title, forgery]): Attack[] => [
    {
      title,
      foundBy: ['itself'],
      home: (home) => forgeHome(home, forgery),
      bundle: (files) => forgeLines(files, forgery),
    },
    {
      title: `${title}, the chain computed anew`,
      foundBy: ['itself'],
      home: (home) => forgeHome(home, (rows) => rechained(forgery(rows))),
    },
    {
      title: `${title}, the chain computed anew, the list of files made to fit`,
      foundBy: ['itself'],
      bundle: (files) => {
        forgeLines(files, (rows) => rechained(forgery(rows)));
        listAnew(files);
      },
    },
    ...[forgery, (rows: readonly Row[]) => rechained(forgery(rows))].map(
      (change, at): Attack => ({
        title: `${title}${at === 0 ? '' : ', the chain computed anew'}, the list signed anew by the installation itself`,
        foundBy: ['itself'],
        bundle: (files, { insider }) => {
          forgeLines(files, change);
          listAnew(files, insider);
        },
      }),
    ),
    {
      title: `${title}, everything signed anew with another key`,
      foundBy: ['key', 'anchor'],
      home: async (home, { forger }) => {
        forgeHome(home, (rows) => rechained(forgery(rows)));
        await resign(home, forger);
      },
    },
  ]),
  ...Object.entries(CUTS).flatMap(([title, count]): Attack[] => [
    {
      title: `a tail of ${title} cut off`,
      foundBy: ['itself'],
      home: (home) => forgeHome(home, (rows) => rows.slice(0, -count)),
      bundle: (files) => forgeLines(files, (rows) => rows.slice(0, -count)),
    },
    {
      title: `a tail of ${title} cut off, the list signed anew by the installation itself`,
      foundBy: ['itself'],
      bundle: (files, { insider }) => {
        forgeLines(files, (rows) => rows.slice(0, -count));
        listAnew(files, insider);
      },
    },
    {
      title: `a tail of ${title} cut off with every signed head that saw it`,
      foundBy: ['anchor'],
      home: (home) => {
        forgeHome(home, (rows) => rows.slice(0, -count));
        forgetHeads(home, ENTRIES - count);
      },
    },
    {
      title: `a tail of ${title} cut off with every signed head that saw it, the list of files made to fit`,
      foundBy: ['itself'],
      bundle: (files) => {
        forgeLines(files, (rows) => rows.slice(0, -count));
        for (const name of files.keys()) if (name.startsWith('checkpoints/run/')) files.delete(name);
        listAnew(files);
      },
    },
  ]),
  {
    title: "two runs in each other's place",
    foundBy: ['itself'],
    home: (home) => {
      let mine: readonly Row[] = [];
      let theirs: readonly Row[] = [];
      forgeHome(home, (rows) => {
        mine = rows;
        return [];
      });
      forgeHome(
        home,
        (rows) => {
          theirs = rows;
          return [];
        },
        `run/${OTHER}`,
      );
      forgeHome(home, () => theirs.map((row) => ({ ...row, stream: `run/${RUN}` })));
      forgeHome(home, () => mine.map((row) => ({ ...row, stream: `run/${OTHER}` })), `run/${OTHER}`);
    },
    bundle: (files, { other }) => files.set('journal.jsonl', other.get('journal.jsonl') ?? Buffer.alloc(0)),
  },
  {
    title: "two runs in each other's place, the chains computed anew",
    foundBy: ['itself'],
    home: (home) => {
      let mine: readonly Row[] = [];
      forgeHome(
        home,
        (rows) => {
          mine = rows;
          return [];
        },
        `run/${OTHER}`,
      );
      forgeHome(home, () => rechained(mine.map((row) => ({ ...row, stream: `run/${RUN}` }))));
    },
  },
  {
    title: 'two ends of a run put behind it, the chain computed anew',
    foundBy: ['itself'],
    home: (home) =>
      forgeHome(home, (rows) => {
        const end = { ...at(rows, ENTRIES), type: 'run.closed', body: '{"proven":true}' };
        return rechained([...rows, { ...end, body: '{"proven":false}' }, end]);
      }),
  },
  {
    title: 'a deleted run',
    foundBy: ['itself'],
    home: (home) => forgeHome(home, () => []),
    bundle: (files) => void files.delete('journal.jsonl'),
  },
];
