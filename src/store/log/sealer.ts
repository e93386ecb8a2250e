import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { Journal } from '../journal.ts';
import { armedCalls } from './check-log.ts';
import { type Checkpoint, claimOf, readCheckpoint } from './checkpoint.ts';
import type { Place, PlacedNote } from './places/place.ts';
import type { Signer } from './signer.ts';

export interface SealerOptions {
  readonly signer: Signer;
  readonly places: readonly [Place, ...Place[]];
  /** By a person, although a checkpoint does not fit. */
  readonly isAccepted?: (claim: Checkpoint) => boolean;
  /** For each failure to write a place; sealing continues. */
  readonly onProblem?: (problem: LifeboatError) => void;
  /**
   * For a team's store: each folder besides the home is required too, and holds no other log. A colleague
   * sees a rolled-back database only through it.
   */
  readonly isShared?: boolean;
}

export interface Sealer {
  /**
   * Signs the log's head with the armed calls, stores it in every place, and returns the note. When this
   * resolves, it is on disk in each required place and in each other one that took it within its time limit
   * (failures: `onProblem`). Rejects with `evidence.not-sealed` if a required place does not take it, and
   * with `journal.rolled-back` (exit 5) if a place shows that another copy of this store, or another log in
   * its place, was written to: then nothing may be sent.
   */
  sealNow(): Promise<string>;
  /** As `sealNow`, if there are entries since the last seal of this process; problems go to `onProblem`. */
  sealRest(): Promise<void>;
}

/** `sealedTo` is the size that already has a checkpoint in the places. */
export function createSealer(
  journal: Pick<Journal, 'log' | 'rows'>,
  { signer, places, isAccepted = () => false, onProblem = () => undefined, isShared = false }: SealerOptions,
  sealedTo = 0,
): Sealer {
  const [home, ...further] = places;
  const isRequired = ({ kind }: Place) => isShared && kind === 'folder';
  const [required, others] = [further.filter(isRequired), further.filter((place) => !isRequired(place))];
  let sealed = { size: sealedTo, note: '' };
  let origin: string | undefined;

  const sealNow = async (): Promise<string> => {
    origin ??= await journal.log.origin();
    const head = await journal.log.head();
    if (origin === undefined || head.size === 0) throw notSealed('the store is empty');
    // After the head: a call armed later may be named too, but none armed before is missed.
    const armed = await armedCalls(journal);
    const note = signer.sign({ origin, size: head.size, root: head.root, armed });
    if (note === sealed.note) return note;
    const before = Math.min(sealed.size, head.size - 1);
    // Before the home: a home ahead of the folder looks like a folder of another store.
    await Promise.all(required.map((place) => keepIn(place, note, before)));
    const atHome = await home.write(note, signer);
    if (atHome.result === 'down') throw notSealed(`${home.name}: ${atHome.why}`);
    journal.log.vouch(head.size);
    if (atHome.result === 'conflict') {
      const other = atHome.others.find(({ note: text }) => isForeign(claimOf(text)));
      if (other !== undefined) throw usedTwice(home, other, head.size);
    }
    await Promise.all(others.map((place) => keepIn(place, note, before)));
    sealed = { size: head.size, note };
    return note;
  };

  const keepIn = async (place: Place, note: string, before: number): Promise<void> => {
    const written = await place.write(note, signer);
    if (written.result === 'down') {
      const problem = notSealed(`${place.name}: ${written.why}`, undefined, isRequired(place) ? [ALONE] : []);
      if (isRequired(place)) throw problem;
      return onProblem(problem);
    }
    // Another process may have written there since: of this store, which then has the entry, or of a copy.
    const look = await place.look({ origin, beyond: before, most: 0 });
    if (look.result !== 'read') return;
    const { size } = await journal.log.head();
    const others = isRequired(place) ? look.origins.filter((one) => one !== origin) : [];
    for (const other of others.filter((one) => isForeign({ ...NO_CLAIM, origin: one }))) {
      // A process that died before its first checkpoint leaves an empty folder.
      const theirs = await place.look({ origin: other, beyond: 0, most: 1 });
      if (theirs.result === 'read' && theirs.notes.length > 0) throw begunAnew(place, other, size);
    }
    for (const placed of look.notes) {
      const read = readCheckpoint(placed.note ?? '', look.keys);
      if (read.result !== 'signed' || !isForeign(read.checkpoint)) continue;
      const { checkpoint } = read;
      const root = checkpoint.size > size ? undefined : await journal.log.rootAt(checkpoint.size);
      if (checkpoint.root !== root) throw usedTwice(place, placed, size);
    }
  };

  const isForeign = (claim: Checkpoint | undefined) => claim !== undefined && !isAccepted(claim);

  return {
    sealNow,
    async sealRest() {
      try {
        if ((await journal.log.head()).size > sealed.size) await sealNow();
      } catch (thrown) {
        onProblem(thrown instanceof LifeboatError ? thrown : notSealed('an unknown error', thrown));
      }
    },
  };
}

/** Logs are accepted as a whole: no size or root is compared. */
const NO_CLAIM = { size: 0, root: '', armed: [] };

/** A team's folder holds one log: another is what the database held before, or holds now. */
function begunAnew(place: Place, other: string, size: number): LifeboatError {
  const message = `another log was begun in place of this one: ${show(place.name, 120)} has checkpoints of ${other}`;
  return new LifeboatError('journal.rolled-back', message, {
    hints: [
      'nothing was sent: what the other log has on record as sent is not in this one',
      'if the folder also serves another store: name a folder for this one alone below `checkpoints`',
      'to go on here: `lifeboat audit accept-loss --reason TEXT`',
    ],
    evidence: { place: place.name, origin: other, size },
    exitCode: EXIT.inDoubt,
  });
}

/** Each copy takes its own record of sent calls for complete. */
function usedTwice(place: Place, other: PlacedNote, size: number): LifeboatError {
  return new LifeboatError(
    'journal.rolled-back',
    `another copy of this store was written to: ${show(place.name, 120)} has a checkpoint of another history`,
    {
      hints: [
        'nothing was sent: what the other copy has sent is not in this one',
        `the checkpoint that does not fit: ${show(other.file, 200)}`,
        'go on with one copy only; the other one does not know what this one sends',
        'to go on here: `lifeboat audit accept-loss --reason TEXT`',
      ],
      evidence: { place: place.name, file: other.file, size },
      exitCode: EXIT.inDoubt,
    },
  );
}

const ALONE = 'or go on without what colleagues see of it, on record: add `--alone REASON`';

function notSealed(why: string, cause?: unknown, hints: readonly string[] = []): LifeboatError {
  return new LifeboatError(
    'evidence.not-sealed',
    `the checkpoint of the log cannot be written: ${show(why, 200)}`,
    {
      hints: [
        'the journal itself is complete',
        'free space, or make the checkpoint folder writable',
        ...hints,
      ],
      ...(cause === undefined ? {} : { cause }),
    },
  );
}
