import { type Check, skip } from '../check.ts';
import { ENDPOINTS, successOf } from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import { ensure, expectBody, expectRefusal } from '../expect.ts';
import { Metrics } from '../shapes.ts';
import type { Subject } from '../subject.ts';

/** `<service_type>.<index>.<path> <value> <seconds>` */
const POINT = /^[^\s.]+\.\d+\.(\S+) (-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?) (\d+)$/;
/** The table of section 2.8. */
const PATHS: readonly RegExp[] = [
  /^system\.cpu\.error$/,
  /^system\.cpu0\.(user|system|idle)$/,
  /^system\.load\.(load1|load5|load15)$/,
  /^system\.memory\.(error|total|used|free|shared|buffers|cached)$/,
  /^system\.swap\.(error|total|used|free)$/,
  /^system\.disk\.error$/,
  /^system\.disk\.(system|ephemeral|var_log|tmp|var_tmp|home|persistent)\.(error|total|used|free)$/,
  /^parachute\.(error|activated)$/,
  /^parachute\.disk\.(ephemeral|persistent)\.(error|total|used|used_percent|used_threshold|free|activated)$/,
];
/** 2001: what is smaller is not seconds since 1970, and neither is what lies far ahead. */
const EARLIEST = 1_000_000_000;

/** Sections 2.8 and 4.1 (16). */
export const METRICS: readonly Check[] = [
  {
    id: 'metrics.points',
    section: '2.8',
    title: 'every metric is a path, a number, and a time in seconds',
    run: async (subject) => {
      const { points, exchange } = await readPoints(subject);
      if (points.length === 0) skip('there are no metrics');
      const now = (exchange.date ?? Number.POSITIVE_INFINITY) / 1000 + 60;
      const off = points.find(({ seconds }) => seconds < EARLIEST || seconds > now);
      ensure(off === undefined, `the time ${off?.seconds} is not seconds since 1970 until now`, exchange);
      const strange = points.filter(({ path }) => !PATHS.some((pattern) => pattern.test(path)));
      ensure(strange.length < points.length, 'no path is one of the table', exchange);
      return strange.slice(0, 1).map(({ path }) => `paths beside the table, such as ${path}`);
    },
  },
  {
    id: 'metrics.quantity',
    section: '4.1 rule 3',
    title: 'quantity gives as many of the metrics as it says, and the latest',
    run: async (subject) => {
      const all = await readPoints(subject);
      if (all.points.length === 0) skip('there are no metrics');
      const newestFirst = all.points.map(({ seconds }) => seconds).toSorted((one, other) => other - one);
      for (const quantity of [1, Math.min(3, newestFirst.length), newestFirst.length]) {
        const { points, exchange } = await readPoints(subject, `?quantity=${quantity}`);
        ensure(points.length === quantity, `${points.length} metrics instead of ${quantity}`, exchange);
        const latest = newestFirst[quantity - 1] ?? 0;
        ensure(
          points.every(({ seconds }) => seconds >= latest),
          'there are later metrics than these',
          exchange,
        );
      }
    },
  },
  {
    id: 'metrics.quantity-limit',
    section: '8',
    title: 'a quantity below 1, or one that is no whole number, is refused',
    run: async ({ api }) => {
      for (const quantity of ['0', '-1', '1.5', 'many']) {
        expectRefusal(await api.v1('GET', `/metrics?quantity=${quantity}`));
      }
    },
  },
];

async function readPoints(subject: Subject, query = '') {
  const exchange: Exchange = await subject.api.v1('GET', `/metrics${query}`);
  const lines = expectBody(exchange, successOf(ENDPOINTS.metrics, subject.revision), Metrics);
  const points = lines.map((line) => {
    const [, path, , seconds] = POINT.exec(line) ?? [];
    ensure(path !== undefined, `"${line}" is not a path, a number and a time`, exchange);
    return { path, seconds: Number(seconds) };
  });
  return { points, exchange };
}
