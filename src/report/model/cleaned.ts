import { show } from '../../base/text.ts';

/**
 * The same data with every text in it printable and cut: the one place where what others have written is made
 * harmless, so that no renderer can forget it. Fields that are undefined are left out.
 */
export function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return show(value, LONGEST);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [name, cleaned(item)]),
  );
}

/** Several audit events of the platform with their types. */
const LONGEST = 1_000;
