import fc from 'fast-check';

/** How thorough the thief is. */
export const LEVELS = {
  plain: 'as a database tool leaves it',
  rehashed: 'numbers, hashes and tree computed anew, the head left alone',
  'own key': 'and the head signed with a key of his own',
  announced: 'and that key announced in the log',
  endorsed: 'and that key endorsed in the log by himself',
  anew: 'and that key put in the place of the first one',
  stolen: 'and the head signed with the key of the machine',
} as const;
export type Level = keyof typeof LEVELS;

/** Changes to the entries. */
const ROW_ACTS = [
  'delete',
  'edit',
  'insert',
  'duplicate',
  'swap',
  'back-date',
  'cut',
  'append',
  'follow an end',
  'append an old one',
] as const;
type RowAct = (typeof ROW_ACTS)[number];

/** Changes to the checkpoints. */
export const OUTCOMES = [
  'kept',
  'newest of the home gone',
  'home emptied',
  'copies emptied',
  'all emptied',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** One act of a thief. `at`, `other` and `extent` are shares of what exists. */
export type Tampering =
  | {
      readonly on: 'entries';
      readonly act: RowAct;
      readonly level: Level;
      readonly outcome: Outcome;
      readonly at: number;
      readonly other: number;
      readonly extent: number;
    }
  | { readonly on: 'database'; readonly act: 'roll back'; readonly outcome: Outcome }
  | { readonly on: 'home'; readonly act: 'roll back'; readonly outcome: Outcome }
  | { readonly on: 'checkpoints'; readonly act: Outcome }
  | {
      readonly on: 'checkpoint';
      readonly act: 'edit' | 'exchange' | 'delete';
      readonly at: number;
      readonly other: number;
      readonly byte: number;
    }
  | {
      readonly on: 'head';
      readonly act: 'delete' | 'edit' | 'delete all' | 'forget' | 'edit an old one';
      readonly byte: number;
    }
  | { readonly on: 'tree'; readonly act: 'edit' | 'cut'; readonly at: number; readonly byte: number }
  | { readonly on: 'rows'; readonly act: 'edit' | 'delete'; readonly at: number }
  | { readonly on: 'keys'; readonly act: 'delete' | 'replace' | 'plant' }
  | { readonly on: 'transcript'; readonly act: 'edit' | 'cut' | 'append' | 'delete'; readonly at: number };

const PLACES = 2 ** 30;
const share = fc.noBias(fc.integer({ min: 0, max: PLACES - 1 })).map((at) => at / PLACES);
const outcome = fc.constantFrom(...OUTCOMES);

export const tampering: fc.Arbitrary<Tampering> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      ...{
        on: fc.constant('entries' as const),
        act: fc.constantFrom(...ROW_ACTS),
        outcome,
        at: share,
        other: share,
        extent: share,
      },
      level: fc.constantFrom(...(Object.keys(LEVELS) as Level[])),
    }),
  },
  fc.record({
    on: fc.constantFrom('database' as const, 'home' as const),
    act: fc.constant('roll back' as const),
    outcome,
  }),
  fc.record({ on: fc.constant('checkpoints' as const), act: outcome }),
  {
    weight: 2,
    arbitrary: fc.record({
      ...{
        on: fc.constant('checkpoint' as const),
        act: fc.constantFrom('edit' as const, 'exchange' as const, 'delete' as const),
      },
      ...{ at: share, other: share, byte: share },
    }),
  },
  fc.record({
    ...{ on: fc.constant('head' as const), byte: share },
    act: fc.constantFrom(
      'delete' as const,
      'edit' as const,
      'delete all' as const,
      'forget' as const,
      'edit an old one' as const,
    ),
  }),
  fc.record({
    on: fc.constant('tree' as const),
    act: fc.constantFrom('edit' as const, 'cut' as const),
    at: share,
    byte: share,
  }),
  fc.record({
    on: fc.constant('rows' as const),
    act: fc.constantFrom('edit' as const, 'delete' as const),
    at: share,
  }),
  fc.record({
    on: fc.constant('keys' as const),
    act: fc.constantFrom('delete' as const, 'replace' as const, 'plant' as const),
  }),
  fc.record({
    ...{ on: fc.constant('transcript' as const), at: share },
    act: fc.constantFrom('edit' as const, 'cut' as const, 'append' as const, 'delete' as const),
  }),
);

export type EntryTampering = Extract<Tampering, { on: 'entries' }>;
