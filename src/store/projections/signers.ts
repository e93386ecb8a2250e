import { type Entry, fieldsOf, type JournalReader } from '../journal.ts';
import type { FoldedRow, Projection } from './projection.ts';

export interface Signed {
  /** `SHA256:...`, as `ssh-keygen -l` prints it. */
  readonly key: string;
  /** By the allowed-signers file at that time. */
  readonly approver: string;
  /** RFC 3339. */
  readonly at: string;
}

const SIGNED = 'signed';
const KEY = /^SHA256:[A-Za-z0-9+/]{43}$/u;

/** For each key that signed an approval: the last one shows that its holder still has it. */
export const signers: Projection = {
  name: 'signers',
  version: 1,
  keysOf: (entry) => {
    const signed = signedIn(entry);
    return signed === undefined ? [] : [signed.key];
  },
  fold: (row, entry) => rowOf(signedIn(entry)) ?? row,
};

export async function readSigned(journal: Pick<JournalReader, 'rows'>): Promise<readonly Signed[]> {
  const rows = await journal.rows(signers.name, { group: SIGNED });
  return rows.map(({ key, sort, value }) => ({ key, approver: String(value), at: sort }));
}

function signedIn({ type, stream, at, body }: Entry): Signed | undefined {
  if (type !== 'approval.given' || !stream.startsWith('run/')) return undefined;
  const { key, approver } = fieldsOf(body);
  if (typeof key !== 'string' || typeof approver !== 'string' || !KEY.test(key)) return undefined;
  return { key, approver, at };
}

function rowOf(signed: Signed | undefined): FoldedRow | undefined {
  return signed === undefined ? undefined : { group: SIGNED, sort: signed.at, value: signed.approver };
}
