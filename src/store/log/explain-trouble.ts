import { EXIT, LifeboatError } from '../../base/errors.ts';
import { counted, formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import { isOfPlaces, type LostCall, type Trouble, type TroubleKind } from './rollback.ts';

const NAMED = 10;

/**
 * The error that blocks every change to an instance, `journal.rolled-back` (exit 5): what is missing since
 * when, which calls were armed in the missing part, and the ways out.
 */
export function rolledBack(trouble: Trouble): LifeboatError {
  return new LifeboatError('journal.rolled-back', inShort(trouble), {
    hints: [
      'nothing was sent: what is missing here may have been done already, and could be done twice',
      ...detailsOf(trouble),
      ...otherStore(trouble),
      ...otherFolder(trouble),
      putBack(trouble),
      'without a copy: `lifeboat audit accept-loss --reason TEXT` records the loss and puts the lost calls in doubt',
      trouble.store.isGone
        ? '`lifeboat status`, `keys list`, `audit verify` and downloads still work'
        : '`lifeboat runs`, `report`, `audit` and downloads still work',
    ],
    evidence: {
      kinds: [...trouble.kinds],
      size: trouble.store.size,
      calls: trouble.calls.map(({ isOpen: _, firstAt: __, ...call }) => call),
    },
    exitCode: EXIT.inDoubt,
  });
}

/** An empty store may simply be the wrong one. */
function otherStore({ store }: Trouble): readonly string[] {
  if (store.origin !== undefined || store.unreadable !== undefined) return [];
  return [
    'if this home has used another store until now: ' +
      'name that one again (`store` in lifeboat.yaml, or LIFEBOAT_STORE)',
    'or move its entries into this one: `lifeboat store copy --from OLD --to NEW`',
  ];
}

/** If two stores share a folder, one looks as if it had replaced the other. */
function otherFolder({ store, misfits }: Trouble): readonly string[] {
  if (!store.isShared || !misfits.some(({ origin }) => origin !== store.origin)) return [];
  return ['if the folder also serves another store: name a folder for this one alone below `checkpoints`'];
}

function putBack(trouble: Trouble): string {
  const { kinds, store } = trouble;
  if (kinds.includes('checkpoints-unread'))
    return 'mount it, or repair the permissions of the folder, then run the same command again';
  if (isOfPlaces(trouble))
    return 'to put them back: copy the folder of the checkpoints from a backup, then `lifeboat audit verify`';
  const how = store.isShared
    ? 'the owner of the database restores its newest backup'
    : 'put lifeboat.db and lifeboat.db-wal back from the newest copy';
  return `to put it back: stop lifeboat, ${how}, then \`lifeboat audit verify\``;
}

export function inShort(trouble: Trouble): string {
  const [kind = 'unsigned'] = trouble.kinds;
  return WORDS[kind](trouble);
}

/** What is missing since when, and which calls were armed there, one line each. */
export function detailsOf(trouble: Trouble): readonly string[] {
  const { kinds, store, misfits, calls, unnamed, since, until } = trouble;
  const others = kinds.slice(1).map((kind) => WORDS[kind](trouble));
  const furthest = misfits.toSorted((one, other) => other.size - one.size)[0];
  const newest = since === undefined ? [] : [`the newest entry is from ${formatTime(since)} UTC`];
  return [
    ...others,
    ...(store.count === 0 ? ['no entry is left'] : newest),
    ...(until === undefined
      ? []
      : [`the newest checkpoint that does not fit is from ${formatTime(until)} UTC`]),
    ...(furthest === undefined ? [] : [`the largest one that does not fit: ${show(furthest.file, 200)}`]),
    ...(misfits.length > 0 && calls.length === 0
      ? ['no call that changes an instance was armed in the lost part']
      : []),
    ...calls.slice(-NAMED).map(lostInWords),
    ...(calls.length > NAMED ? [`and ${counted(calls.length - NAMED, 'older call')}`] : []),
    ...(unnamed > 0
      ? [`and ${counted(unnamed, 'call')} more that no checkpoint has room to name: look at every instance`]
      : []),
    ...(store.origin === undefined ? [] : [`this store is ${store.origin}`]),
  ];
}

function lostInWords({ stream, instance, verb, at, isOpen }: LostCall): string {
  const by = stream.startsWith('run/') ? `by run ${stream.slice('run/'.length)}` : 'by a single command';
  const outcome = isOpen ? 'its outcome is not known' : 'its outcome was on record and is lost';
  return show(
    `armed in the lost part: ${verb} on ${instance}, ${by}, sent ${formatTime(at)} UTC; ${outcome}`,
    300,
  );
}

const WORDS: Readonly<Record<TroubleKind, (trouble: Trouble) => string>> = {
  gone: ({ misfits }) => {
    const [first] = misfits;
    const signed = first === undefined ? '' : `: ${first.origin} was signed in ${show(first.place, 120)}`;
    return `the journal is empty or gone, but there was one${signed}`;
  },
  unreadable: ({ store }) => show(store.unreadable ?? 'the journal cannot be read', 300),
  'rolled-back': ({ store, misfits }) => {
    const own = misfits.filter(({ origin }) => origin === store.origin);
    const furthest = own.toSorted((one, other) => other.size - one.size)[0];
    const [size, place] = [furthest?.size ?? 0, show(furthest?.place ?? '', 120)];
    return size > store.end
      ? `the journal was rolled back: it ends at entry ${store.end}, and ${size} were signed in ${place}`
      : `the journal has a history other than the one signed in ${place}: its entries up to ${size} differ`;
  },
  'checkpoints-removed': ({ store }) =>
    `checkpoints were removed: the journal was signed up to entry ${store.vouched}, and no place has it`,
  'checkpoints-unread': ({ store, unread }) => {
    const which = unread.map(({ name, why }) => `${show(name, 120)} (${show(why ?? '', 120)})`);
    return `the journal was signed up to entry ${store.vouched}, and that checkpoint cannot be read: ${which.join(', ')}`;
  },
  'rows-missing': ({ store }) =>
    `entries were removed from the journal: ${store.size} were signed, ${store.count} are left`,
  unsigned: ({ store }) =>
    store.count > store.size
      ? `the journal holds entries that nobody has signed: ${store.size} of ${store.count} were signed`
      : 'no key that is known here has signed the end of the journal',
};
