import { show } from '../../base/text.ts';

/** Makes every text printable and cuts it, here so that no renderer can forget it. Drops undefined fields. */
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

/** Room for several audit events of the platform with their types. */
const LONGEST = 1_000;
