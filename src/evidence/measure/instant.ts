const PARTS =
  /^(?<date>\d{4}-\d{2}-\d{2})[T ](?<time>\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(?:Z|UTC|(?<sign>[+-])(?<hours>\d{2})(?::?(?<minutes>\d{2}))?)?$/iu;

/**
 * A date and time of the service, the data or the journal in milliseconds since 1970: RFC 3339, or as PostgreSQL writes it. Without a zone
 * it is UTC (service-api.md section 2). Undefined for anything else.
 */
export function instantOf(text: unknown): number | undefined {
  const found = typeof text === 'string' ? PARTS.exec(text.trim())?.groups : undefined;
  if (found === undefined) return undefined;
  const { date, time, sign, hours = '00', minutes = '00' } = found;
  const ms = Date.parse(`${date}T${time}${sign === undefined ? 'Z' : `${sign}${hours}:${minutes}`}`);
  return Number.isNaN(ms) ? undefined : ms;
}
