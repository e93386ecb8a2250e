import { type Untrusted, untrust } from '../base/text.ts';

/** Service-api.md section 2.8. */
export interface MetricPoint {
  /** As the service sent it, including `<service_type>.<index>.`. */
  readonly path: Untrusted;
  readonly value: number;
  /** Milliseconds since 1970; the service sends seconds. */
  readonly atMs: number;
}

/** Oldest first. */
export interface MetricSeries {
  readonly path: Untrusted;
  readonly points: readonly { readonly value: number; readonly atMs: number }[];
}

/** Both parts of the prefix are undefined if the path has none. */
interface MetricPath {
  readonly service: Untrusted | undefined;
  /** The node, counted from 0. */
  readonly index: number | undefined;
  readonly name: Untrusted;
}

/** The service lists the latest points last; these are kept. */
export const MAX_POINTS = 200_000;

/** The latest time that a Date can hold (ECMA-262 section 21.4.1.1). Milliseconds. */
const LAST_MOMENT = 8.64e15;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu;

/**
 * Without elements that are not data points; at most the last 200,000. `containing`: only lines that have
 * this text are read; of an instance's metrics a screen of thousands needs one in fifty.
 */
export function readMetrics(elements: readonly unknown[], containing = ''): readonly MetricPoint[] {
  const points: MetricPoint[] = [];
  for (const element of elements) {
    if (typeof element !== 'string' || !element.includes(containing)) continue;
    const point = readMetricPoint(element);
    if (point !== undefined) points.push(point);
  }
  return points.length > MAX_POINTS ? points.slice(-MAX_POINTS) : points;
}

/** `<metric_path> <numeric_value> <unix_timestamp_seconds>`; undefined for anything else. */
export function readMetricPoint(line: string): MetricPoint | undefined {
  const [path, value, seconds, more] = line.trim().split(/\s+/u);
  if (path === undefined || value === undefined || seconds === undefined || more !== undefined)
    return undefined;
  const point = { path: untrust(path.toWellFormed()), value: decimal(value), atMs: decimal(seconds) * 1000 };
  return Number.isFinite(point.value) && Math.abs(point.atMs) <= LAST_MOMENT ? point : undefined;
}

/** By path, in order of first appearance; unknown paths are kept. */
export function seriesOf(points: readonly MetricPoint[]): readonly MetricSeries[] {
  const byPath = Map.groupBy(points, (point) => point.path);
  return [...byPath].map(([path, of]) => ({
    path,
    points: of.map(({ value, atMs }) => ({ value, atMs })).toSorted((one, other) => one.atMs - other.atMs),
  }));
}

/** A path of section 2.8, and any other; a number between dots may be part of the service type. */
const KNOWN = /^(?<service>.+?)\.(?<index>\d{1,9})\.(?<name>(?:system|parachute)\..+)$/su;
const OTHER = /^(?<service>.+?)\.(?<index>\d{1,9})\.(?<name>.+)$/su;

/** Splits `<service_type>.<index>.` off a path; the service type itself may contain dots and numbers. */
export function describePath(path: string): MetricPath {
  const { service, index, name } = (KNOWN.exec(path) ?? OTHER.exec(path))?.groups ?? {};
  if (service === undefined || index === undefined || name === undefined)
    return { service: undefined, index: undefined, name: untrust(path) };
  return { service: untrust(service), index: Number(index), name: untrust(name) };
}

/** `Number` would also accept `0x10`, an empty text and `Infinity`. */
function decimal(text: string): number {
  return DECIMAL.test(text) ? Number(text) : Number.NaN;
}

/**
 * The parachute stops a node when a disk is fuller than the threshold (service-api.md section 2.8). Latest
 * values; undefined if there is none.
 */
export interface ParachuteDisk {
  readonly service: Untrusted | undefined;
  readonly index: number | undefined;
  /** `ephemeral`, `persistent`, or another name. */
  readonly disk: string;
  /** 0 to 100. */
  readonly usedPercent: number | undefined;
  /** 0 to 100. */
  readonly usedThreshold: number | undefined;
  readonly activated: boolean | undefined;
  /** Of the newest value. Milliseconds since 1970. */
  readonly atMs: number;
}

/** What a metric of the parachute has in its path. */
export const PARACHUTE = 'parachute.disk.';

const FACT = /^parachute\.disk\.(?<disk>[^.]+)\.(?<fact>used_percent|used_threshold|activated)$/u;

/** Of all nodes, in order of first appearance. Of points with the same time the last counts. */
export function parachuteDisks(points: readonly MetricPoint[]): readonly ParachuteDisk[] {
  const facts = points.flatMap((point) => {
    const { service, index, name } = describePath(point.path);
    const { disk, fact } = FACT.exec(name)?.groups ?? {};
    if (disk === undefined || fact === undefined) return [];
    return [{ service, index, disk, fact, value: point.value, atMs: point.atMs }];
  });
  const byDisk = Map.groupBy(facts, ({ service, index, disk }) => JSON.stringify([service, index, disk]));
  return [...byDisk.values()].flatMap((of) => {
    const [first] = of;
    if (first === undefined) return [];
    const latest = new Map(
      of.toSorted((one, other) => one.atMs - other.atMs).map(({ fact, value }) => [fact, value]),
    );
    const activated = latest.get('activated');
    return [
      {
        service: first.service,
        index: first.index,
        disk: first.disk,
        usedPercent: latest.get('used_percent'),
        usedThreshold: latest.get('used_threshold'),
        activated: activated === undefined ? undefined : activated !== 0,
        atMs: of.reduce((newest, { atMs }) => Math.max(newest, atMs), Number.NEGATIVE_INFINITY),
      },
    ];
  });
}
