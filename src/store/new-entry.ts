import { LifeboatError } from '../errors.ts';
import { canonicalBody, refuseDepth } from './canonical.ts';
import { hashEntry, type Row } from './chain.ts';
import type { Entry, NewEntry, StreamName } from './journal.ts';

/** Ids that are safe as a file name, in a checkpoint's origin and on a terminal. */
const STREAM = /^(?:(?:run|instance)\/[A-Za-z0-9][A-Za-z0-9._-]{0,99}|store\/log)$/u;
const TYPE = /^[a-z][a-z0-9.-]{0,63}$/u;

/** Whether a name can be a stream: `run/` or `instance/`, then 1 to 100 letters, digits, dots, dashes, underscores. */
export function isStreamName(name: string): name is StreamName {
  return STREAM.test(name);
}

/** Throws `journal.bad-entry` for a stream name that cannot be stored. */
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

/** The next row of a stream, hashed and ready to be stored. Throws for bodies that cannot be journalled. */
export function rowAfter(tip: Pick<Row, 'seq' | 'hash'>, entry: NewEntry, at: string, by: string): Row {
  checkStreamName(entry.stream);
  if (!TYPE.test(entry.type)) {
    throw new LifeboatError(
      'journal.bad-entry',
      `${JSON.stringify(entry.type.slice(0, 80))} is not an entry type`,
    );
  }
  const { stream, type } = entry;
  const body = canonicalBody(entry.body, `entry ${type} of ${stream}`);
  const row = { stream, seq: tip.seq + 1, at, by, type, body, prev: tip.hash };
  return { ...row, hash: hashEntry(row) };
}

/** The entry that a stored row stands for. Throws `journal.damaged` when its body cannot be what was appended. */
export function entryOf(row: Row): Entry {
  refuseDepth(row.body, 'the body');
  try {
    return {
      ...row,
      stream: row.stream as StreamName,
      body: JSON.parse(row.body),
    };
  } catch (cause) {
    throw new LifeboatError('journal.damaged', `entry ${row.seq} of ${row.stream} cannot be read`, {
      hints: ['`lifeboat audit verify` says what else is damaged'],
      cause,
    });
  }
}
