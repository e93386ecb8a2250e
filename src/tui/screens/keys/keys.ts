import { counted, timeOr } from '../../../base/format.ts';
import { wantsPassphrase } from '../../../view/app/app-port.ts';
import type { BackupList } from '../../../view/app/backup-list.ts';
import type { Facts, HolderRow, KeyRow, KeyRowCustody, KeysFacts } from '../../../view/app/sources.ts';
import { type Layout, wholeBody } from '../../bands.ts';
import { wrapLine } from '../../line.ts';
import {
  type AppEffect,
  type Around,
  type BoundKey,
  footerKey,
  type Input,
  type ScreenRequest,
} from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import { failureLines } from '../../parts/facts.ts';
import {
  BACK_KEY,
  cursorAt,
  FRESH_LIST,
  filtered,
  filterLines,
  isListIntent,
  type ListIntent,
  type ListState,
  listKeys,
  moved,
  placed,
  typedInto,
} from '../../parts/list.ts';
import {
  givenWith,
  type PathField,
  type PathIntent,
  pathAfter,
  pathField,
  pathIn,
  pathKeys,
  pathLines,
  pathNeeds,
  whyNotFile,
} from '../../parts/path-field.ts';
import { tableBody } from '../../parts/table.ts';
import { type Line, type Look, type Span, span } from '../../span.ts';

type Intent = 'open' | 'copy' | 'journal' | 'add' | 'add-file' | 'unlock' | ListIntent | KeyFileIntent;

interface State {
  readonly list: ListState;
  readonly over: KeyFile | undefined;
  /** Paths entered here, the newest first. */
  readonly given: readonly string[];
}

/** The keys of every instance by fingerprint: which are held, and what they open. Never a key itself. */
export function keysScreen({ addTo }: ScreenRequest & { readonly name: 'keys' }): OpenScreen {
  const over = addTo === undefined ? undefined : keyFile(addTo, [], true);
  return screen<State, Intent>({
    init: { list: FRESH_LIST, over, given: [] },
    subject: ({ over }) => over?.instance ?? '',
    title: ({ over }) => (over === undefined ? 'keys' : 'key from a file'),
    badge: (_, around) => badgeOfHome(around),
    isTyping: ({ list, over }) => over !== undefined || list.isFiltering,
    keys: ({ list, over }, around) =>
      over === undefined ? keysOf(list, around) : keyFileKeys(over, around.facts),
    needs: ({ list, over }, around) => {
      const home = { source: 'home', of: null } as const;
      // Only one instance's backups are loaded, not those of five hundred.
      const here = atCursor(list, around);
      const keys = { source: 'keys', of: null } as const;
      if (over !== undefined) return [home, keys, ...pathNeeds(over.path)];
      return here?.isConfigured === true
        ? [home, keys, { source: 'backups', of: here.instance }]
        : [home, keys];
    },
    reduce: (state, input, around) => {
      const { list, over, given } = state;
      if (over !== undefined) {
        const [next, ...effects] = keyFileAfter(over, input);
        const isGiven = effects.length > 0;
        return [{ ...state, over: next, given: isGiven ? givenWith(over.path) : given }, ...effects];
      }
      if (input.type === 'text') return [{ ...state, list: typedInto(list, input.text) }];
      const keys = rowsOf(list, around).map(keyOf);
      if (isListIntent(input.intent))
        return [{ ...state, list: moved(list, input.intent, keys, input.page.height) }];
      if (input.intent === 'unlock') return [state, { type: 'unlock' }];
      const wanted = wantingKey(list, around);
      if (input.intent === 'add')
        return 'instance' in wanted ? [state, { type: 'add-key', ...wanted }] : [state];
      if (input.intent === 'add-file')
        return 'instance' in wanted ? [{ ...state, over: keyFile(wanted.instance, given, false) }] : [state];
      const here = atCursor(list, around);
      if (here === undefined) return [state];
      const { instance, fingerprint } = here;
      switch (input.intent) {
        case 'copy':
          return [state, { type: 'copy', text: fingerprint, what: `the fingerprint of ${instance}` }];
        case 'open':
          return [state, { type: 'open', screen: { name: 'instance', instance } }];
        case 'journal':
          return [state, { type: 'open', screen: { name: 'journal', stream: `instance/${instance}` } }];
        default:
          return [state];
      }
    },
    shown: (state, around) => ({
      ...state,
      list: placed(state.list, rowsOf(state.list, around).map(keyOf)),
    }),
    layOut: ({ list, over }, around, look) => {
      const { columns, rows: height } = around.size;
      if (over !== undefined) return keyFileLayout(over, around, look);
      const { part, last } = around.facts.get('keys', null);
      if (last === undefined && part.state === 'failed') {
        return wholeBody(
          failureLines(`the key store cannot be read: ${part.why}`, part.hints ?? [], columns, look),
          around.size,
        );
      }
      const rows = rowsOf(list, around);
      const foot = footOf(last?.value, atCursor(list, around), around).flatMap((line) =>
        wrapLine(line, columns, 2),
      );
      const filter = filterLines(list, columns, look);
      const room = height - filter.length;
      const below = foot.slice(0, Math.max(0, Math.min(foot.length, Math.floor(room / 2))));
      const table = {
        columns: columnsFor(around),
        rows,
        cursor: cursorAt(list, rows.map(keyOf)),
        empty: last === undefined ? 'reading the key store' : NO_KEYS,
      };
      return tableBody(table, around.size, look, { above: filter, below });
    },
  });
}

const NO_KEYS = 'no keys are held, and none is on record: press : and type `add a key`';

const ESCROW = {
  title: 'escrow',
  cell: ({ custody }: KeyRow): Line => [
    custody?.sealed === undefined ? span('NO', 'status.bad') : span(`${custody.sealed.people}`),
  ],
  drop: 2,
};

function columnsFor({ facts }: Around) {
  const isSealed = facts.get('keys', null).last?.value.holders !== undefined;
  return [
    {
      title: 'instance',
      cell: ({ instance, isConfigured }: KeyRow): Line => [
        span(instance, isConfigured ? 'text' : 'text.dim'),
        span(isConfigured ? '' : ' (not in the config)', 'text.dim'),
      ],
      least: 10,
    },
    { title: 'key', cell: ({ fingerprint }: KeyRow): Line => [span(fingerprint, 'text.strong')] },
    { title: 'held', cell: ({ isHeld }: KeyRow): Line => [isHeld ? span('yes') : span('NO', 'status.bad')] },
    { title: 'state', cell: (row: KeyRow): Line => [stateWord(row)] },
    ...(isSealed ? [ESCROW] : []),
    { title: 'set (UTC)', cell: ({ setAt }: KeyRow): Line => [span(timeOr(setAt))], drop: 3 },
    { title: 'ended (UTC)', cell: ({ endedAt }: KeyRow): Line => [span(timeOr(endedAt))], drop: 4 },
    { title: 'proven (UTC)', cell: ({ provenAt }: KeyRow): Line => [span(timeOr(provenAt))], drop: 2 },
    {
      title: 'opens',
      cell: (row: KeyRow): Line => [
        span(opensOf(row, facts.get('backups', row.instance).last?.value) ?? '-', 'text'),
      ],
      drop: 1,
    },
  ];
}

/**
 * How many backups the key was shown to open, and how many more it may open by their dates; undefined if
 * nothing is known. A key that was in force when a backup was made does not necessarily open it.
 */
function opensOf({ fingerprint, provenBackups }: KeyRow, list: BackupList | undefined): string | undefined {
  const proven = `${provenBackups === 0 ? 'none' : provenBackups} proven`;
  if (list === undefined) return provenBackups === 0 ? undefined : proven;
  const fitting = list.rows.filter(
    ({ keys, provenAt }) => provenAt === undefined && keys.some((key) => key.fingerprint === fingerprint),
  );
  if (fitting.length === 0) return proven;
  const alone = fitting.filter(({ keys }) => keys.length === 1).length;
  const count = alone === fitting.length ? `${alone}` : `${alone} to ${fitting.length}`;
  return `${proven}, ${PERHAPS} ${count} of ${list.rows.length}`;
}

const PERHAPS = 'perhaps';

function stateWord({ state, endedAt, isHeld }: KeyRow): Span {
  if (state === 'uncertain') return span('in doubt', 'status.warn');
  if (state === 'unknown') return span('unknown', 'status.warn');
  if (endedAt !== undefined) return span(state === 'refuted' ? 'refused' : 'ended', 'text.dim');
  if (state === 'proven') return span('proven', isHeld ? 'status.ok' : 'text');
  return span(state);
}

function footOf(known: KeysFacts | undefined, here: KeyRow | undefined, { facts }: Around): readonly Line[] {
  if (known === undefined) return [];
  const { unread, store } = known;
  const opens = here && opensOf(here, facts.get('backups', here.instance).last?.value);
  return [
    ...(here === undefined ? [] : [[span(stateWords(here))]]),
    ...(here === undefined ? [] : custodyLines(here, known.holders)),
    ...(unread === undefined ? [] : [[span(`the journal cannot be read: ${unread}`, 'status.bad')]]),
    ...(opens?.includes(PERHAPS)
      ? [[span(`${PERHAPS}: by its dates only; that the key fits shows when a backup is opened`, 'text.dim')]]
      : []),
    [span(`kept in: ${store}; compare fingerprints within this key store only`, 'text.dim')],
  ];
}

function custodyLines(row: KeyRow, holders: KeysFacts['holders']): readonly Line[] {
  const { custody, isHeld } = row;
  if (custody === undefined) return [];
  return [
    ...(holders === undefined ? [] : [[copiesSpan(custody, holders)]]),
    ...(isHeld || custody.needed > 0 ? [[endSpan(row, custody)]] : []),
  ];
}

function copiesSpan({ sealed }: KeyRowCustody, holders: readonly HolderRow[]): Span {
  if (sealed === undefined)
    return span('no sealed copy on record: `lifeboat keys escrow check` looks', 'status.bad');
  const proven = holders.filter(({ state }) => state === 'proven').map(({ name }) => name);
  const others = holders.filter(({ state }) => state !== 'proven');
  const shown = [
    ...(proven.length === 0 ? [] : [`shown by ${proven.join(', ')}`]),
    ...others.map(
      ({ name, state }) => `${state === 'never' ? 'NEVER shown' : 'shown too long ago'} by ${name}`,
    ),
  ];
  const opening = shown.length === 0 ? '' : `; opening one: ${shown.join(', ')}`;
  const people = counted(sealed.people, 'person', 'people');
  return span(
    `sealed to ${people}, in ${sealed.places.join(', ')}${opening}`,
    others.length === 0 ? 'text' : 'status.warn',
  );
}

function endSpan(
  { instance, fingerprint }: KeyRow,
  { needed, verified, fitted, endsAt }: KeyRowCustody,
): Span {
  const cancel = `\`lifeboat keys destroy ${fingerprint} -i ${instance} --cancel\``;
  if (endsAt !== undefined) return span(`to be destroyed on ${timeOr(endsAt)} UTC: ${cancel}`, 'status.warn');
  if (needed === 0)
    return span(`whether it may go: \`lifeboat keys may-destroy ${fingerprint} -i ${instance}\``, 'text.dim');
  const backups = counted(needed, 'listed backup needs', 'listed backups need');
  return span(`it may not go: ${backups} it (${verified} verified, ${fitted} fit by their first block)`);
}

function keyOf({ instance, fingerprint }: KeyRow): string {
  return `${instance}/${fingerprint}`;
}

function rowsOf(list: ListState, { facts }: Around): readonly KeyRow[] {
  return filtered(facts.get('keys', null).last?.value.rows ?? [], list, (row) =>
    [row.instance, row.fingerprint, stateWord(row).text, row.isHeld ? 'held' : 'not held'].join(' '),
  );
}

function atCursor(list: ListState, around: Around): KeyRow | undefined {
  const rows = rowsOf(list, around);
  return rows[cursorAt(list, rows.map(keyOf))];
}

function whyUnnamed(here: KeyRow | undefined): string | undefined {
  return here?.isConfigured === false ? `the config does not name ${here.instance}` : undefined;
}

/** The instance whose key is entered: that of the row, or the only one; otherwise why there is none. */
function wantingKey(
  list: ListState,
  around: Around,
): { readonly instance: string } | { readonly why: string } {
  const here = atCursor(list, around);
  const unnamed = whyUnnamed(here);
  if (unnamed !== undefined) return { why: unnamed };
  if (here !== undefined) return { instance: here.instance };
  const [only, ...others] = around.facts.get('home', null).last?.value.instances ?? [];
  return only !== undefined && others.length === 0
    ? { instance: only.name }
    : { why: 'no row names the instance: press : and type `add a key`' };
}

function keysOf(list: ListState, around: Around): readonly BoundKey<Intent>[] {
  if (list.isFiltering) return listKeys(list);
  const here = atCursor(list, around);
  const wanted = wantingKey(list, around);
  const none = here === undefined ? 'there is no key here' : undefined;
  return [
    {
      ...footerKey('enter', 'open', 'instance', 'look at the instance of the key'),
      disabled: none ?? whyUnnamed(here),
    },
    { ...footerKey('y', 'copy', 'copy fingerprint', 'copy the fingerprint of the key'), disabled: none },
    {
      ...footerKey('e', 'journal', 'entries', 'show what the ledger of the instance has on record'),
      disabled: none,
    },
    {
      ...footerKey('a', 'add', 'add key', 'enter a key of this instance; it is not shown'),
      disabled: 'why' in wanted ? wanted.why : undefined,
    },
    {
      ...footerKey('f', 'add-file', 'from a file', 'store a key of this instance from a file'),
      disabled: 'why' in wanted ? wanted.why : undefined,
    },
    unlockKey(around),
    ...listKeys(list),
    ...(list.filter.text === '' ? [BACK_KEY] : []),
  ];
}

/** Ctrl-R asks for the passphrase only if that is what is missing. */
function unlockKey({ facts }: Around): BoundKey<Intent> {
  const { part } = facts.get('keys', null);
  const isLocked = part.state === 'failed' && wantsPassphrase(part.code);
  return {
    ...footerKey(
      'p',
      'unlock',
      'passphrase',
      'enter the passphrase of the vault file again, where it is locked',
    ),
    keys: isLocked ? ['p', 'ctrl+r'] : ['p'],
    inFooter: isLocked,
    disabled: isLocked ? undefined : 'the key store is not locked',
  };
}

function stateWords({ state, isHeld, endedAt, provenAt }: KeyRow): string {
  if (!isHeld && state !== 'refuted')
    return 'the key store does not have this key: backups under it cannot be opened here';
  if (state === 'unknown') return 'the key store has this key, and no record says what it was for';
  if (state === 'refuted') return 'the service did not accept this key';
  if (endedAt !== undefined) {
    return provenAt === undefined
      ? 'replaced: older backups may need it'
      : 'replaced: backups were opened with it, and older ones may need it';
  }
  return OPEN[state];
}

const OPEN = {
  pending: 'stored, and not known to be sent to the service',
  set: 'in force: no backup was opened with it yet',
  uncertain: 'sent, and the answer was lost: it may be in force',
  proven: 'in force: a backup was opened with it',
  added: 'added by hand: when it was in force is not known',
} as const;

interface KeyFile {
  readonly instance: string;
  readonly path: PathField;
  /** The screen was opened for this field, and closes with it. */
  readonly isAlone: boolean;
}

function keyFile(instance: string, given: readonly string[], isAlone: boolean): KeyFile {
  return { instance, path: pathField({ source: 'secretFile' }, given), isAlone };
}

type KeyFileIntent = 'take' | 'close' | PathIntent;

function keyFileKeys({ path }: KeyFile, facts: Facts): readonly BoundKey<KeyFileIntent>[] {
  return [{ ...TAKE, disabled: whyNotFile(path, facts) }, ...pathKeys(path), CLOSE];
}

const TAKE: BoundKey<KeyFileIntent> = footerKey(
  'enter',
  'take',
  'store the key',
  'store the key that the file holds, as `lifeboat keys add NAME --file FILE` does',
);
const CLOSE: BoundKey<KeyFileIntent> = footerKey(
  ['escape', 'ctrl+c'],
  'close',
  'back',
  'go back; nothing is stored',
);

/** The field after an input; undefined once it is closed. An effect is returned if a path was entered. */
function keyFileAfter(over: KeyFile, input: Input<string>): readonly [KeyFile | undefined, ...AppEffect[]] {
  const { instance, path, isAlone } = over;
  const intent = input.type === 'intent' ? input.intent : undefined;
  if (intent === 'close') return isAlone ? [over, { type: 'back' }] : [undefined];
  if (intent === 'take') {
    const said = { type: 'say', text: `storing the key of ${instance}` } as const;
    const add = { type: 'add-key', instance, file: pathIn(path) } as const;
    return isAlone ? [over, said, { type: 'instead', effect: add }] : [undefined, said, add];
  }
  return [{ ...over, path: pathAfter(path, input) }];
}

function keyFileLayout({ instance, path }: KeyFile, { facts, size }: Around, look: Look): Layout {
  const { columns, rows } = size;
  const words = {
    label: 'file: ',
    empty: `the file holds the key of ${instance} and nothing else, on one line; ~/ is your home`,
    ready: `it can be read: Enter stores it as a key of ${instance}`,
  };
  return wholeBody(pathLines(path, facts, words, [columns, rows], look), size);
}
