import { LifeboatError } from '../base/errors.ts';
import { assertDepth, canonicalBody, hashOf } from './canonical.ts';
import type { Entry, NewEntry, StoredEntry, StreamName } from './journal.ts';

/** Ids that are safe as a file name, in a checkpoint's origin and on a terminal. */
const STREAM =
  /^(?:(?:run|plan|instance)\/[A-Za-z0-9][A-Za-z0-9._-]{0,99}|notify\/outbox|keys\/holders|workers\/limits|workers\/schedules|store\/log)$/u;
const TYPE = /^[a-z][a-z0-9.-]{0,63}$/u;

/** `run/`, `plan/` or `instance/`, then 1 to 100 letters, digits and `.-_`; or a fixed name. */
export function isStreamName(name: string): name is StreamName {
  return STREAM.test(name);
}

/** Throws `journal.bad-entry`. */
export function checkStreamName(name: string): void {
  if (isStreamName(name)) return;
  throw new LifeboatError(
    'journal.bad-entry',
    `${JSON.stringify(name.slice(0, 120))} is not the name of a stream`,
    {
      hints: ['names of instances and runs consist of letters, digits, dots, dashes and underscores'],
    },
  );
}

/** `body` is the text that will be stored. */
export interface PreparedEntry {
  readonly stream: StreamName;
  readonly type: string;
  readonly body: string;
}

/** Throws the errors that `Journal.append` lists for bad entries. */
export function prepareEntry({ stream, type, body }: NewEntry): PreparedEntry {
  checkStreamName(stream);
  if (!TYPE.test(type)) {
    throw new LifeboatError('journal.bad-entry', `${JSON.stringify(type.slice(0, 80))} is not an entry type`);
  }
  return { stream, type, body: canonicalBody(body, `entry ${type} of ${stream}`) };
}

/** Well-formed, at most 200 characters. */
export function storableName(by: string): string {
  return by.toWellFormed().slice(0, 200).toWellFormed();
}

/** Throws `journal.damaged` if the hash does not match or the row is unreadable. */
export function entryOf(stored: StoredEntry): Entry {
  if (hashOf(stored) !== stored.hash)
    throw damaged(stored, 'was changed: its content does not match its hash');
  return hashedEntry(stored);
}

/** As `entryOf`, for a row whose hash was just computed. */
export function hashedEntry(stored: StoredEntry): Entry {
  assertDepth(stored.body, 'the body');
  try {
    return { ...stored, stream: stored.stream as StreamName, body: JSON.parse(stored.body) };
  } catch (cause) {
    throw damaged(stored, 'cannot be read', cause);
  }
}

function damaged({ seq, stream }: StoredEntry, what: string, cause?: unknown): LifeboatError {
  return new LifeboatError('journal.damaged', `entry ${seq} of ${stream} ${what}`, {
    hints: [
      '`lifeboat audit verify` says what else is damaged',
      'a changed entry cannot be repaired: restore the journal from a copy',
    ],
    cause,
  });
}
