import type { z } from 'zod';
import { instantOf } from '../base/instant.ts';
import type { Answer } from './client.ts';
import { badAnswerError } from './failures.ts';

/** The id is given if readable. */
export interface UnreadRow {
  readonly id: number | undefined;
  /** The trigger time, if readable; milliseconds, by the service's clock. */
  readonly atMs: number | undefined;
  /** Empty if the row is not an object. */
  readonly field: string;
}

/**
 * One by one: a bad row hides none of the others. Throws `service.bad-answer` if not even one row has an id:
 * that is not a list of tasks. `raw` has the readable rows as received.
 */
export function readRows<T>(
  rows: readonly unknown[],
  schema: z.ZodType<T>,
  evidence: { readonly status: number },
): { readonly value: T[]; readonly raw: readonly unknown[]; readonly unread: readonly UnreadRow[] } {
  const value: T[] = [];
  const raw: unknown[] = [];
  const unread: UnreadRow[] = [];
  let where = '';
  for (const [index, row] of rows.entries()) {
    const parsed = schema.safeParse(row);
    if (parsed.success) {
      value.push(parsed.data);
      raw.push(row);
      continue;
    }
    const field = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
    if (where === '') where = [index, field].filter((part) => part !== '').join('.');
    unread.push({ id: idOf(row), atMs: instantOf(fieldOf(row, 'triggered_at')), field });
  }
  if (value.length === 0 && unread.length > 0 && unread.every(({ id }) => id === undefined))
    throw badAnswerError(`the answer has an unexpected shape (at ${where})`, { ...evidence, at: where });
  return { value, raw, unread };
}

export async function listed<T>(
  asked: Promise<Answer<readonly unknown[]>>,
  schema: z.ZodType<T>,
): Promise<Answer<readonly T[]>> {
  const answer = await asked;
  const { value, raw, unread } = readRows(answer.value, schema, { status: answer.status });
  return {
    ...answer,
    value,
    raw: unread.length === 0 ? answer.raw : raw,
    ...(unread.length === 0 ? {} : { unread }),
  };
}

/** One sentence for each row. */
export function unreadWords(what: 'backup' | 'restore', unread: readonly UnreadRow[] = []): string[] {
  return unread.map(({ id, field }) => {
    const row = id === undefined ? `a row of the list of ${what}s` : `${what} ${id} in the list`;
    return `${row} cannot be read${field === '' ? '' : ` (${field})`} and is passed over`;
  });
}

function idOf(row: unknown): number | undefined {
  const raw = typeof row === 'object' && row !== null ? Reflect.get(row, 'id') : undefined;
  const id = typeof raw === 'string' && /^\d{1,15}$/.test(raw) ? Number(raw) : raw;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : undefined;
}

function fieldOf(row: unknown, name: string): string | undefined {
  const raw = typeof row === 'object' && row !== null ? Reflect.get(row, name) : undefined;
  return typeof raw === 'string' ? raw : undefined;
}
