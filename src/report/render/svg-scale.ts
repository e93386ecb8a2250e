/** The picture's measures, in units of its own. */
export const WIDTH = 1000;
export const LEFT = 92;
const RIGHT = 14;

export interface Scale {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Where a moment stands, never outside. */
  x(ms: number): number;
}

export function scaleOf(fromMs: number, untilMs: number): Scale {
  const end = Math.max(untilMs, fromMs + 1);
  const width = WIDTH - LEFT - RIGHT;
  const x = (ms: number) => LEFT + (width * (Math.min(end, Math.max(fromMs, ms)) - fromMs)) / (end - fromMs);
  return { fromMs, untilMs: end, x };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((n) => n * DAY),
];

/** At most nine round moments after the start, each with its distance from it in words. */
export function ticks({ fromMs, untilMs }: Scale): { readonly ms: number; readonly text: string }[] {
  const span = untilMs - fromMs;
  const step = STEPS.find((one) => span / one <= 9) ?? span;
  const count = Math.floor(span / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, at) => ({ ms: fromMs + at * step, text: words(at * step) }));
}

function words(ms: number): string {
  if (ms === 0) return '0';
  if (ms < MINUTE) return `${Number((ms / SECOND).toFixed(3))} s`;
  if (ms < HOUR) return joined(ms, MINUTE, 'min', SECOND, 's');
  return ms < 2 * DAY ? joined(ms, HOUR, 'h', MINUTE, 'min') : joined(ms, DAY, 'd', HOUR, 'h');
}

function joined(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.round((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeUnit}${rest === 0 ? '' : ` ${rest} ${smallUnit}`}`;
}

/** Whether a text surely fits, by a generous width of its letters. */
export function fits(text: string, width: number): boolean {
  return Array.from(text).length * 7 + 8 <= width;
}
