import { expect, test } from 'vitest';
import { metricWords } from '../../../src/view/app/metric-words.ts';

test.each([
  ['postgresql.0.system.memory.total', 270_553_174_016, '252 GiB'],
  ['postgresql.0.system.disk.var_log.used', 1_048_576, '1 MiB'],
  ['postgresql.0.parachute.disk.persistent.free', 2048, '2 KiB'],
  ['postgresql.0.parachute.disk.persistent.used_percent', 41.25, '41.25 %'],
  ['postgresql.0.parachute.disk.persistent.activated', 0, '0'],
  ['postgresql.0.system.memory.error', 0, '0'],
  ['postgresql.0.system.load.load1', 0.123456, '0.12346'],
  ['postgresql.0.system.swap.used', Number.NaN, '-'],
])('%s of %d is shown as %s', (path, value, words) => {
  expect(metricWords(path, value)).toBe(words);
});
