import { isDeepStrictEqual } from 'node:util';
import type { Exchange } from '../exchange.ts';
import { ensure } from '../expect.ts';

/** Whether no value stands there twice. */
export function distinct(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length;
}

/** The fields that are another now; one that was not shown before is none of them. */
export function changedFields(before: object, now: object, fields: readonly string[]): readonly string[] {
  return fields.filter((field) => {
    const was: unknown = Reflect.get(before, field);
    return was !== undefined && !isDeepStrictEqual(was, Reflect.get(now, field));
  });
}

/** Both show the same in every one of the fields that both have. */
export function sameFields(one: object, other: object, fields: readonly string[], exchange: Exchange): void {
  for (const field of fields) {
    const [before, after]: [unknown, unknown] = [Reflect.get(one, field), Reflect.get(other, field)];
    const same = before === undefined || after === undefined || isDeepStrictEqual(before, after);
    ensure(same, `${field} is not the same in two answers`, exchange);
  }
}
