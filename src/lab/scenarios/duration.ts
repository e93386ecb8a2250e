import { z } from 'zod';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `90s`, `15m`, `1h30m`, `2d`: gives milliseconds, 0 or more. */
export const Duration = z.string().transform((text, context) => durationIn(text, /^/u, context));

/** The same with a sign in front where it is less than nothing: `-7m`. */
export const Offset = z.string().transform((text, context) => durationIn(text, /^[+-]?/u, context));

function durationIn(text: string, sign: RegExp, context: z.RefinementCtx): number {
  const [prefix = ''] = sign.exec(text) ?? [];
  const rest = text.slice(prefix.length);
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/u.test(rest)) {
    context.addIssue({
      code: 'custom',
      message: 'not a duration: write for instance 20s, 15m or 1h30m',
    });
    return z.NEVER;
  }
  const parts = rest.matchAll(/(?<count>\d+(?:\.\d+)?)(?<unit>ms|s|m|h|d)/gu);
  const sum = Array.from(parts).reduce((ms, { groups }) => {
    const unit = groups?.['unit'] as keyof typeof UNITS;
    return ms + Number(groups?.['count']) * UNITS[unit];
  }, 0);
  return Math.round(prefix === '-' ? -sum : sum);
}
