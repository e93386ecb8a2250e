import { type Untrusted, untrust } from '../base/text.ts';

/** One data point (service-api.md section 2.8). */
export interface MetricPoint {
  /** The whole path as the service sent it, `<service_type>.<index>.` included. */
  readonly path: Untrusted;
  readonly value: number;
  /** Milliseconds since 1970; the service sends seconds. */
  readonly atMs: number;
}

/** All points of one path, oldest first. */
export interface MetricSeries {
  readonly path: Untrusted;
  readonly points: readonly { readonly value: number; readonly atMs: number }[];
}

/** A path without its prefix; both parts of the prefix are undefined when the path has none. */
export interface MetricPath {
  readonly service: Untrusted | undefined;
  /** The node, counted from 0. */
  readonly index: number | undefined;
  readonly name: Untrusted;
}

/** As many points are taken from an answer; the service tells the latest last, so these stay. */
export const MOST_POINTS = 200_000;

/** The furthest time that a Date can hold (ECMA-262 section 21.4.1.1). Milliseconds. */
const LAST_MOMENT = 8.64e15;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu;

/**
 * Reads the elements of an answer. Those that are no data point are left out; at most the last 200,000 points
 * stay.
 */
export function readMetrics(elements: readonly unknown[]): readonly MetricPoint[] {
  const points = elements.flatMap((element) =>
    typeof element === 'string' ? (readMetricPoint(element) ?? []) : [],
  );
  return points.length > MOST_POINTS ? points.slice(-MOST_POINTS) : points;
}

/** Reads one `<metric_path> <numeric_value> <unix_timestamp_seconds>`; undefined for anything else. */
export function readMetricPoint(line: string): MetricPoint | undefined {
  const [path, value, seconds, more] = line.trim().split(/\s+/u);
  if (path === undefined || value === undefined || seconds === undefined || more !== undefined)
    return undefined;
  const point = { path: untrust(path.toWellFormed()), value: decimal(value), atMs: decimal(seconds) * 1000 };
  return Number.isFinite(point.value) && Math.abs(point.atMs) <= LAST_MOMENT ? point : undefined;
}

/** Groups points by path, in the order in which paths first appear; unknown paths are kept. */
export function seriesOf(points: readonly MetricPoint[]): readonly MetricSeries[] {
  const byPath = Map.groupBy(points, (point) => point.path);
  return [...byPath].map(([path, of]) => ({
    path,
    points: of.map(({ value, atMs }) => ({ value, atMs })).toSorted((one, other) => one.atMs - other.atMs),
  }));
}

/** Splits `<service_type>.<index>.` off a path; the service type may hold dots itself. */
export function describePath(path: string): MetricPath {
  const { service, index, name } =
    /^(?<service>.+?)\.(?<index>\d{1,9})\.(?<name>.+)$/su.exec(path)?.groups ?? {};
  if (service === undefined || index === undefined || name === undefined)
    return { service: undefined, index: undefined, name: untrust(path) };
  return { service: untrust(service), index: Number(index), name: untrust(name) };
}

/** `Number` would read `0x10`, an empty text and `Infinity` as well. */
function decimal(text: string): number {
  return DECIMAL.test(text) ? Number(text) : Number.NaN;
}
