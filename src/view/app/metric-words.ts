import { formatBytes } from '../../base/format.ts';

/** Sizes of memory, swap and disks (service-api.md section 2.8). */
const SIZE = /\.(?:memory|swap|disk\.[^.]+)\.(?:total|used|free|shared|buffers|cached)$/u;
const PERCENT = /\.(?:used_percent|used_threshold)$/u;

/** Sizes in MiB or GiB, shares in percent, other numbers unchanged. */
export function metricWords(path: string, value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '-';
  if (SIZE.test(path)) return formatBytes(value);
  const number = Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(5)));
  return PERCENT.test(path) ? `${number} %` : number;
}
