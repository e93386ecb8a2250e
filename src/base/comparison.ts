import { Duration } from './duration.ts';

export interface Comparison {
  readonly sign: '>=' | '<=' | '=' | '>' | '<';
  readonly value: number;
}

const COMPARISON = /^(?<sign>>=|<=|=|>|<)(?<value>.+)$/u;

/** `>= 1000`; undefined if the value is no number. Pure. */
export function comparedCount(text: string): Comparison | undefined {
  return compared(text, (value) => (Number.isFinite(Number(value)) ? Number(value) : undefined));
}

/** `<= 1h`, in milliseconds; undefined if the value is no duration. Pure. */
export function comparedAge(text: string): Comparison | undefined {
  return compared(text, (value) => Duration.safeParse(value).data);
}

function compared(text: string, read: (value: string) => number | undefined): Comparison | undefined {
  const { sign, value = '' } = COMPARISON.exec(text)?.groups ?? {};
  const wanted = value.trim() === '' ? undefined : read(value.trim());
  return wanted === undefined ? undefined : { sign: sign as Comparison['sign'], value: wanted };
}

/** Pure. */
export function fitsComparison(found: number, { sign, value }: Comparison): boolean {
  switch (sign) {
    case '>=':
      return found >= value;
    case '<=':
      return found <= value;
    case '>':
      return found > value;
    case '<':
      return found < value;
    case '=':
      return found === value;
  }
}
