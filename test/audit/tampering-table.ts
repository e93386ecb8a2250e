import type { Row } from './forge.ts';
import type { EntryTampering, Outcome, Tampering } from './tampering.ts';

/**
 * The observers: the audit with the machine's key, without any, with a given anchor, and the check at every
 * opening.
 */
export const OBSERVERS = ['key', 'none', 'anchor', 'guard'] as const;
export type Observer = (typeof OBSERVERS)[number];

/** What an observer must find: each of `all`, or one of `any`; neither means that nothing is wrong. */
export interface Cell {
  readonly all?: readonly string[];
  readonly any?: readonly string[];
}

/** Who finds what. */
export type Expected = Readonly<Record<Observer, Cell>> & {
  /** How far the home, then the copies, pin the log for an audit with the key, if that finds nothing. */
  readonly pins: readonly [home: number, copies: number];
  /** The home has no checkpoint of the last close: the process may have died before it. */
  readonly isLate?: boolean;
  /** The rows of the projections do not match the entries: `doctor --deep` finds it. */
  readonly rows?: boolean;
};

/** The relevant part of a victim's store. */
export interface Scene {
  readonly rows: readonly Row[];
  /** The sizes of the checkpoints of each place. */
  readonly home: readonly number[];
  readonly copies: readonly number[];
  /** What the store remembers of its home, now and yesterday. */
  readonly vouched: number;
  readonly yesterday: { readonly size: number; readonly vouched: number; readonly home: readonly number[] };
}

const NOTHING: Cell = {};

/** The resulting entries: how many, and from where they differ from the signed ones. */
interface After {
  readonly rows: readonly Pick<Row, 'stream' | 'type' | 'body' | 'at'>[];
  readonly same: number;
  readonly vouched: number;
}

/** The table: which observer finds each tampering, and as what. */
export function expected(
  scene: Scene,
  one: Tampering,
  rowsAfter: (one: EntryTampering) => After['rows'],
): Expected {
  const whole: After = { rows: scene.rows, same: scene.rows.length, vouched: scene.vouched };
  const untouched = checkpointsAfter(scene, 'kept');
  const pins = [furthest(untouched.home), furthest(untouched.copies)] as const;
  const all = (code: string, guard: Cell = NOTHING): Expected => {
    const found = { all: [code] };
    return { key: found, none: found, anchor: NOTHING, guard, pins };
  };
  const nothing: Expected = { key: NOTHING, none: NOTHING, anchor: NOTHING, guard: NOTHING, pins };
  switch (one.on) {
    case 'entries':
      return ofEntries(scene, one, rowsAfter(one));
    case 'database':
    case 'home': {
      const { size, vouched, home } = scene.yesterday;
      const from = one.on === 'home' ? { ...scene, home } : scene;
      return signedByTheKey(
        { rows: scene.rows.slice(0, size), same: size, vouched },
        checkpointsAfter(from, one.outcome),
        scene,
      );
    }
    case 'checkpoints':
      return signedByTheKey(whole, checkpointsAfter(scene, one.act), scene);
    case 'checkpoint': {
      const places = [
        ...scene.home.map((size) => ({ size, isHome: true })),
        ...scene.copies.map((size) => ({ size, isHome: false })),
      ];
      const picked = places[Math.floor(one.at * places.length)];
      if (one.act === 'delete') {
        const left = (sizes: readonly number[], isHome: boolean) =>
          sizes.filter((size) => picked?.isHome !== isHome || picked.size !== size);
        return signedByTheKey(
          whole,
          { home: left(scene.home, true), copies: left(scene.copies, false) },
          scene,
        );
      }
      if (one.act === 'exchange') {
        const second = places[Math.floor(one.other * places.length)];
        return second?.size === picked?.size ? nothing : all('checkpoint.misplaced');
      }
      const found = { any: ['checkpoint.unreadable', 'checkpoint.bad-signature', 'key.other'] };
      return { ...nothing, key: found, none: found };
    }
    case 'head': {
      const damaged = { any: ['checkpoint.unreadable', 'checkpoint.bad-signature', 'key.other'] };
      const guard = { all: ['unsigned'] };
      if (one.act === 'delete') return all('log.unsigned', guard);
      if (one.act === 'delete all') return all('head.missing', guard);
      if (one.act === 'edit') return { ...nothing, key: damaged, none: damaged, guard };
      return nothing;
    }
    case 'tree':
      return all('tree.changed');
    case 'rows':
      return { ...nothing, rows: true };
    case 'keys':
      return nothing;
    case 'transcript':
      return all(
        {
          edit: 'transcript.changed',
          cut: 'transcript.changed',
          append: 'transcript.added',
          delete: 'transcript.missing',
        }[one.act],
      );
    default:
      return one satisfies never;
  }
}

function ofEntries(scene: Scene, one: EntryTampering, rows: After['rows']): Expected {
  const { rows: before, vouched } = scene;
  const places = checkpointsAfter(scene, one.outcome);
  const [many, had] = [rows.length, before.length];
  const isSame = (at: number) => {
    const [row, other] = [rows[at], before[at]];
    return (
      row?.stream === other?.stream &&
      row?.type === other?.type &&
      row?.body === other?.body &&
      row?.at === other?.at
    );
  };
  const differs = rows.findIndex((_, at) => !isSame(at));
  const same = differs === -1 ? Math.min(many, had) : differs;
  if (same === had && many === had && one.level !== 'anew' && !ANNOUNCING.includes(one.level)) {
    // Two equal entries were swapped.
    const vouchedNow = one.level === 'plain' || one.level === 'rehashed' ? vouched : 0;
    if (one.level !== 'own key') return signedByTheKey({ rows, same, vouched: vouchedNow }, places, scene);
  }
  const anchorOf = (size: number, from: number): Cell =>
    size < had ? { all: ['anchor.missing'] } : from < had ? { all: ['anchor.rewritten'] } : NOTHING;
  const removed = reachOf(places, same) < vouched ? ['checkpoints-removed'] : [];
  const pins = [0, 0] as const;
  switch (one.level) {
    case 'plain': {
      const found = { all: [plainly(one, before, rows)] };
      const keepsHashes = one.act === 'edit' || one.act === 'back-date';
      const guard = many < had ? ['rows-missing'] : many > had ? ['unsigned'] : [];
      const anchor = keepsHashes || many > had ? NOTHING : anchorOf(many, same);
      return { key: found, none: found, anchor, guard: { all: guard }, pins };
    }
    case 'rehashed': {
      const found = { all: [many < had ? 'log.cut' : many > had ? 'log.unsigned' : 'head.other'] };
      const guard = { all: [many < had ? 'rows-missing' : 'unsigned', ...removed] };
      return { key: found, none: found, anchor: anchorOf(many, same), guard, pins };
    }
    case 'own key':
    case 'announced':
    case 'endorsed': {
      const found = { all: ['key.other'] };
      const size = many + (one.level === 'own key' ? 0 : 1);
      return { key: found, none: found, anchor: anchorOf(size, same), guard: { all: ['unsigned'] }, pins };
    }
    case 'anew': {
      const left = [...places.home, ...places.copies];
      const lost = demandOf(rows) > 0 ? ['checkpoint.missing'] : [];
      const found = left.length > 0 ? ['key.other', ...(places.home.length === 0 ? lost : [])] : lost;
      const content = contentOf(one);
      return {
        key: { all: ['key.other', ...content] },
        none: { all: [...found, ...content] },
        anchor: anchorOf(many, 0),
        guard: { all: left.length > 0 ? ['rolled-back'] : [] },
        pins,
      };
    }
    case 'stolen': {
      const signed = signedByTheKey({ rows, same, vouched: 0 }, places, scene);
      const more = (cell: Cell): Cell => ({ all: [...(cell.all ?? []), ...contentOf(one)] });
      return { ...signed, key: more(signed.key), none: more(signed.none) };
    }
    default:
      return one.level satisfies never;
  }
}

const ANNOUNCING: readonly string[] = ['announced', 'endorsed'];

/** The trace of a database tool. */
function plainly({ act }: EntryTampering, before: readonly Row[], rows: After['rows']): string {
  if (act === 'edit' || act === 'back-date') return 'entry.changed';
  if (act === 'swap') return 'head.other';
  if (rows.length > before.length) return 'log.unsigned';
  // A gap shows only if something follows it.
  return rows.at(-1) === before.at(-1) ? 'log.gap' : 'log.cut';
}

/** What entries show by themselves, with any signature. */
function contentOf({ act }: EntryTampering): readonly string[] {
  if (act === 'back-date' || act === 'append an old one') return ['entry.backdated'];
  return act === 'follow an end' ? ['run.after-end'] : [];
}

/**
 * A log whose head the machine's key signed: its past shows in the remaining checkpoints, and in its demands.
 */
function signedByTheKey({ rows, same, vouched }: After, places: Places, { rows: before }: Scene): Expected {
  const size = rows.length;
  const inHome = furthest(places.home.filter((one) => one <= same));
  const misfits = [...places.home, ...places.copies].filter((one) => one > same);
  const codes = [
    ...(misfits.some((one) => one > size) ? ['log.cut'] : []),
    ...(misfits.some((one) => one <= size) ? ['log.rewritten'] : []),
    ...(Math.max(vouched, demandOf(rows)) > inHome ? ['checkpoint.missing'] : []),
  ];
  const removed = reachOf(places, same) < vouched ? ['checkpoints-removed'] : [];
  const isWhole = size >= before.length;
  return {
    key: { all: codes },
    none: { all: codes },
    anchor: !isWhole
      ? { all: ['anchor.missing'] }
      : same < before.length
        ? { all: ['anchor.rewritten'] }
        : NOTHING,
    guard: { all: [...misfitsOf(places, same), ...removed] },
    pins: [inHome, furthest(places.copies.filter((one) => one <= same))],
    isLate: rows.findLastIndex(({ type }) => type === 'run.closed') >= inHome,
  };
}

interface Places {
  readonly home: readonly number[];
  readonly copies: readonly number[];
}

function checkpointsAfter({ home, copies }: Pick<Scene, 'home' | 'copies'>, outcome: Outcome): Places {
  return {
    home:
      outcome === 'home emptied' || outcome === 'all emptied'
        ? []
        : outcome === 'newest of the home gone'
          ? home.slice(0, -1)
          : home,
    copies: outcome === 'copies emptied' || outcome === 'all emptied' ? [] : copies,
  };
}

function misfitsOf({ home, copies }: Places, same: number): readonly string[] {
  return [...home, ...copies].some((one) => one > same) ? ['rolled-back'] : [];
}

function reachOf({ home, copies }: Places, same: number): number {
  return furthest([...home, ...copies].filter((one) => one <= same));
}

function furthest(sizes: readonly number[]): number {
  return Math.max(0, ...sizes);
}

/** The minimum size of the home's checkpoint: a call was sent, or a process began after a run was closed. */
function demandOf(rows: After['rows']): number {
  let demand = 0;
  let closed = 0;
  const armed = new Map<string, number>();
  for (const [at, { stream, type, body }] of rows.entries()) {
    if (type === 'intent.armed' && body.includes('"i1"')) armed.set(stream, at + 1);
    if (type === 'intent.outcome' && body.includes('"i1"')) {
      demand = Math.max(demand, armed.get(stream) ?? 0);
      armed.delete(stream);
    }
    if (type === 'run.closed') closed = stream.startsWith('run/') ? at + 1 : closed;
    if (type === 'run.started' && closed > 0) [demand, closed] = [Math.max(demand, closed), 0];
  }
  return demand;
}
