import { hash, type KeyObject } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ProjectedRow } from './journal.ts';
import { isOrigin, openNote, textOf } from './log/checkpoint.ts';
import type { Signer } from './log/signer.ts';
import type { FoldedRow, Projection } from './projections/projection.ts';

/*
 * Whether a call is in doubt, a run is open, or a follow-up is left is read from rows kept with the entries,
 * because there may be millions of entries. Anyone who can write to the database can change such rows. So
 * each append signs the sum of the rows that decisions depend on (`Projection.vouched`), and readers add them
 * up again:
 *
 *     lifeboat-rows/1
 *     <origin of the log>
 *     <projection> <version>
 *     <entries> <rows>
 *     <base64 of the sum>
 *
 * The sum adds a hash of 2,048 bits for each row, so that an append changes it only by the rows that it
 * changes. Since the number of rows is signed too, finding other rows with the same sum is infeasible. An
 * append subtracts the row as it found it: an altered row stays in the sum as it was signed, so the sum never
 * fits again, whatever is appended.
 */

/** Of the notes among the rows; no projection uses it. */
export const VOUCHERS = '+vouchers';

const SIGNED = 'lifeboat-rows';
const BYTES = 256;
const MODULUS = 1n << BigInt(8 * BYTES);

export interface RowSum {
  readonly count: number;
  readonly sum: bigint;
}

export const NO_ROWS: RowSum = { count: 0, sum: 0n };

export interface StoredRow {
  readonly key: string;
  readonly group: string;
  readonly sort: string;
  /** JSON, exactly as stored. */
  readonly value: string;
}

/** Signed by a note. */
export interface RowsClaim extends RowSum {
  readonly origin: string;
  readonly projection: Pick<Projection, 'name' | 'version'>;
  /** How many entries produce these rows. */
  readonly size: number;
}

export function isVouched({ vouched = [] }: Projection, group: string | undefined): boolean {
  return group !== undefined && vouched.includes(group);
}

/** The sum after one row became another; undefined, and a row of an unsigned group, are no row. */
export function summed(
  before: RowSum,
  projection: Projection,
  was: StoredRow | undefined,
  is: StoredRow | undefined,
): RowSum {
  const less = was !== undefined && isVouched(projection, was.group) ? hashOf(was) : undefined;
  const more = is !== undefined && isVouched(projection, is.group) ? hashOf(is) : undefined;
  const sum = before.sum + (more ?? 0n) - (less ?? 0n);
  return {
    count: before.count + Number(more !== undefined) - Number(less !== undefined),
    sum: ((sum % MODULUS) + MODULUS) % MODULUS,
  };
}

export function sumOf(projection: Projection, rows: readonly StoredRow[]): RowSum {
  return rows.reduce((sum, row) => summed(sum, projection, undefined, row), NO_ROWS);
}

/**
 * How many of the newest rows are read again: `sort` is when a row came about and not when it was added, and
 * of those that many writers add at once, an older one may come later.
 */
const LATE = 500;

/**
 * Rows of the signed groups that were added up and are what was signed. If they only grow
 * (`Projection.grows`), they need not be read again: a later sum covers them and what came since.
 */
export class KnownRows {
  readonly #rows = new Map<string, StoredRow>();
  #sum = NO_ROWS;
  /** The `sort` of the newest rows, in order. */
  #newest: readonly string[] = [];

  /** From this `sort` on, rows may have come since; one that came later than that changes the sum. */
  get since(): string {
    return this.count > LATE ? (this.#newest[0] ?? '') : '';
  }

  get count(): number {
    return this.#sum.count;
  }

  /** Adds rows if the sum of all is the claim's; otherwise returns false and adds nothing. */
  add(projection: Projection, rows: readonly StoredRow[], claim: RowSum): boolean {
    const fresh = rows.filter((row) => !isDeepStrictEqual(this.#rows.get(row.key), row));
    const sum = fresh.reduce((all, row) => summed(all, projection, this.#rows.get(row.key), row), this.#sum);
    if (!sameSum(claim, sum)) return false;
    this.#sum = sum;
    for (const row of fresh) this.#rows.set(row.key, row);
    this.#newest = [...this.#newest, ...fresh.map(({ sort }) => sort)].toSorted().slice(-LATE);
    return true;
  }

  /** All rows, or those with these keys. */
  read(keys?: readonly string[]): readonly ProjectedRow[] {
    const rows =
      keys === undefined ? [...this.#rows.values()] : keys.flatMap((key) => this.#rows.get(key) ?? []);
    return rows.map((row) => ({ ...row, value: JSON.parse(row.value) }));
  }
}

export function storedRow(key: string, { group, sort, value }: FoldedRow): StoredRow {
  return { key, group, sort, value: JSON.stringify(value) };
}

export function vouchFor(claim: RowsClaim, signer: Signer): string {
  return signer.note(textOfClaim(claim), SIGNED);
}

/** Undefined if none of these keys signed the note. */
export function vouchedIn(
  note: string | undefined,
  keys: readonly KeyObject[],
  own?: Signer,
): RowsClaim | undefined {
  if (note === undefined) return undefined;
  const isOwn = own?.hasMade(note, SIGNED) === true;
  if (!isOwn && openNote(note, SIGNED, keys).result !== 'signed') return undefined;
  return parseClaim(textOf(note) ?? '');
}

/** This log, with exactly this many entries. */
export interface Expected {
  readonly origin: string | undefined;
  readonly size: number;
  readonly projection: Projection;
}

/** About these rows at this moment. */
export function isAbout(
  claim: RowsClaim | undefined,
  { origin, size, projection }: Expected,
): claim is RowsClaim {
  const { name, version } = projection;
  return (
    claim !== undefined &&
    claim.origin === origin &&
    claim.size === size &&
    claim.projection.name === name &&
    claim.projection.version === version
  );
}

/** `rows` are all those of the signed groups. */
export function fitsClaim(claim: RowSum, projection: Projection, rows: readonly StoredRow[]): boolean {
  return sameSum(claim, sumOf(projection, rows));
}

export function sameSum(one: RowSum, other: RowSum): boolean {
  return one.count === other.count && one.sum === other.sum;
}

/** For an audit. */
export function rowsChanged({ name }: Projection): string {
  return `the list ${name}, which follows from the entries, was changed; what is asked of it is read from them`;
}

function hashOf({ key, group, sort, value }: StoredRow): bigint {
  const text = JSON.stringify([key, group, sort, value]);
  return BigInt(`0x${hash('shake256', text, { outputEncoding: 'hex', outputLength: BYTES })}`);
}

function textOfClaim({ origin, projection: { name, version }, size, count, sum }: RowsClaim): string {
  const digits = Buffer.from(sum.toString(16).padStart(2 * BYTES, '0'), 'hex').toString('base64');
  return `${SIGNED}/1\n${origin}\n${name} ${version}\n${size} ${count}\n${digits}\n`;
}

function parseClaim(text: string): RowsClaim | undefined {
  const [form, origin = '', rows = '', counts = '', digits = ''] = text.split('\n');
  const [, name, version] = /^(\S+) (\d{1,9})$/u.exec(rows) ?? [];
  const [, size, count] = /^(\d{1,15}) (\d{1,15})$/u.exec(counts) ?? [];
  const bytes = Buffer.from(digits, 'base64');
  if (form !== `${SIGNED}/1` || !isOrigin(origin) || bytes.length !== BYTES) return undefined;
  if (name === undefined || size === undefined) return undefined;
  const sum = BigInt(`0x${bytes.toString('hex')}`);
  const projection = { name, version: Number(version) };
  return { origin, projection, size: Number(size), count: Number(count), sum };
}
