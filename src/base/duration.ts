import * as z from 'zod';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNITS;

const WHOLE = /^(?<sign>[+-])?(?<parts>(?:\s*\d+(?:\.\d+)?\s*(?:ms|s|m|h|d))+)\s*$/u;
const PART = /(?<count>\d+(?:\.\d+)?)\s*(?<unit>ms|s|m|h|d)/gu;

/** `90s`, `15m`, `1h30m`, `2d` as whole milliseconds, with an optional sign. Undefined for anything else. */
function durationOf(text: string): number | undefined {
  const { sign, parts } = WHOLE.exec(text)?.groups ?? {};
  if (parts === undefined) return undefined;
  const sum = Array.from(parts.matchAll(PART)).reduce(
    (ms, { groups = {} }) => ms + Number(groups['count']) * UNITS[groups['unit'] as Unit],
    0,
  );
  return Math.round(sign === '-' ? -sum : sum);
}

export const Duration = z
  .string('a duration has a unit: write for instance 30s, 15m or 1h30m')
  .transform((text, context) => durationIn(text, /^[^+-]/u, context));

/** Zero would be no limit, and timers support only a few weeks. */
export const Limit = Duration.refine(
  (ms) => ms > 0 && ms <= UNITS.d,
  'a limit is longer than zero, and not longer than 1d',
);

export const Offset = z.string().transform((text, context) => durationIn(text, /^/u, context));

function durationIn(text: string, form: RegExp, context: z.RefinementCtx): number {
  const ms = form.test(text) ? durationOf(text) : undefined;
  if (ms !== undefined) return ms;
  context.addIssue({
    code: 'custom',
    message: `"${text}" is not a duration: write for instance 30s, 15m or 1h30m`,
  });
  return z.NEVER;
}
