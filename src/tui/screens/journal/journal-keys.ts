import type { Facts } from '../../../view/app/sources.ts';
import { type BoundKey, letterKey } from '../../live-screen.ts';
import { BACK_KEY, type ListIntent, listKeys } from '../../parts/list.ts';
import { READING_KEYS, type ReadingIntent } from '../../parts/reading.ts';
import type { JournalState } from './journal.ts';
import type { Loaded } from './pages.ts';
import { type TrustIntent, trustKeys } from './trust.ts';

export type Intent =
  | 'open'
  | 'close'
  | 'older'
  | 'newer'
  | 'verify'
  | 'verify-against'
  | 'unlock'
  | 'anchor'
  | 'copy'
  | TrustIntent
  | ListIntent
  | ReadingIntent;

/** Characters. Terminals take no longer text into their clipboard. */
export const LARGEST_COPY = 50_000;

/** The keys of the journal now. `anchor` pins the log as it is shown. */
export function keysOf(
  { list, over, path }: JournalState,
  { rows }: Loaded,
  anchor: string | undefined,
  facts: Facts,
  isLocked: boolean,
): readonly BoundKey<Intent>[] {
  if (over === 'trust') return [...trustKeys(path, facts), LEAVE_FIELD];
  if (over === 'audit') {
    const unlock = {
      ...UNLOCK,
      inFooter: isLocked,
      ...(isLocked ? {} : { disabled: 'the vault file is not locked' }),
    };
    return [{ ...VERIFY, label: 'verify again' }, unlock, AGAINST, ...READING_KEYS, CLOSE];
  }
  if (over !== undefined)
    return [
      {
        ...COPY,
        disabled: over.body.length > LARGEST_COPY ? 'the body is too long for the clipboard' : undefined,
      },
      OLDER,
      NEWER,
      ...READING_KEYS,
      CLOSE,
    ];
  if (list.isFiltering) return listKeys(list);
  const none = rows.length === 0 ? 'there is no entry here' : undefined;
  return [
    { ...OPEN, disabled: none },
    { ...VERIFY, disabled: none },
    { ...AGAINST, disabled: none },
    { ...ANCHOR, disabled: anchor === undefined ? 'nothing is on record yet' : undefined },
    ...listKeys(list),
    ...(list.filter.text === '' ? [BACK_KEY] : []),
  ];
}

const OPEN: BoundKey<Intent> = {
  intent: 'open',
  keys: ['enter'],
  shown: 'Enter',
  label: 'in full',
  description: 'show the entry in full, with its body and hash',
  inFooter: true,
};
const VERIFY: BoundKey<Intent> = letterKey(
  'v',
  'verify',
  'verify',
  'recompute the whole log and compare it with its checkpoints, as `lifeboat audit verify` does',
);
const AGAINST: BoundKey<Intent> = letterKey(
  'p',
  'verify-against',
  'verify against',
  'also verify the log against a public key from a file, or an anchor from a ticket',
);
const UNLOCK: BoundKey<Intent> = letterKey(
  'o',
  'unlock',
  'passphrase',
  'enter the passphrase of the vault file, and verify against its signing key',
);
const ANCHOR: BoundKey<Intent> = letterKey(
  'a',
  'anchor',
  'copy anchor',
  'copy the anchor for a ticket: one line that pins everything up to now',
);
const COPY: BoundKey<Intent> = letterKey('y', 'copy', 'copy body', 'copy the body as JSON');
const OLDER: BoundKey<Intent> = {
  intent: 'older',
  keys: ['n', 'right'],
  shown: 'n/p',
  label: 'next',
  description: 'show the next row of the list, or the previous one (also the arrows right and left)',
  inFooter: true,
};
const NEWER: BoundKey<Intent> = {
  intent: 'newer',
  keys: ['p', 'left'],
  shown: '',
  label: '',
  description: 'show the previous row of the list',
  inFooter: false,
};
const CLOSE: BoundKey<Intent> = {
  intent: 'close',
  keys: ['escape', 'q', 'enter'],
  shown: 'Esc',
  label: 'back to the list',
  description: 'go back to the list',
  inFooter: true,
};
/** In a field, letters are text. */
const LEAVE_FIELD: BoundKey<Intent> = {
  ...CLOSE,
  keys: ['escape', 'ctrl+c'],
  label: 'back',
  description: 'go back; nothing is verified',
};
