/** What a reconciliation says about the data. */
export interface Measure {
  /** RFC 3339 in UTC. */
  readonly newest?: string;
  readonly count?: number;
}

/** RFC 3339, or as PostgreSQL prints it: `2026-03-01 02:59:00.123456+00`. */
const MOMENT =
  /(?<![\w-])(?<date>\d{4}-\d{2}-\d{2})[T ](?<time>\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(?: ?(?<zone>Z|UTC|[+-]\d{2}(?::?\d{2})?))?(?![\w:.])/giu;
const DATE = /(?<![\w-])\d{4}-\d{2}-\d{2}(?![\w-])/gu;
/** Neither a part of a word, of a decimal, of a time nor of a number with separators. */
const WHOLE = /(?<![\w.-]|\d[,:])\d+(?![\w-]|[.,:]\d)/u;

/**
 * The first date and time in a text, taken for UTC when it has no zone, and the first whole number that is
 * part of neither a date nor a decimal. Leaves out what is missing, and a number too large to be exact. Pure.
 */
export function readMeasure(text: string): Measure {
  const newest = [...text.matchAll(MOMENT)]
    .map(({ groups }) => momentOf(groups ?? {}))
    .find((moment) => moment !== undefined);
  const count = Number(WHOLE.exec(text.replace(MOMENT, ' ').replace(DATE, ' '))?.[0] ?? Number.NaN);
  return {
    ...(newest === undefined ? {} : { newest }),
    ...(Number.isSafeInteger(count) ? { count } : {}),
  };
}

function momentOf({ date, time, zone }: Readonly<Record<string, string | undefined>>): string | undefined {
  const sign = (zone ?? 'Z').toUpperCase().replace('UTC', 'Z');
  const [, hours, minutes] = /^([+-]\d{2}):?(\d{2})?$/u.exec(sign) ?? [];
  const offset = hours === undefined ? sign : `${hours}:${minutes ?? '00'}`;
  const moment = new Date(`${date}T${time}${offset}`);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}
