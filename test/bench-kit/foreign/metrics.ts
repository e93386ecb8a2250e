import { statfs } from 'node:fs/promises';
import { freemem, loadavg, totalmem } from 'node:os';
import type { ForeignInstance } from './instance.ts';

/**
 * The data points of section 2.8 about this machine: another service type, numbers with exponents, a path
 * that the table does not know, and no order in time.
 */
export async function metricsOf(instance: ForeignInstance, folder: string, now: Date): Promise<string[]> {
  const { bavail, blocks, bsize } = await statfs(folder);
  const disk = { total: blocks * bsize, free: bavail * bsize };
  const used = disk.total - disk.free;
  const [load1 = 0, load5 = 0, load15 = 0] = loadavg();
  const values: Readonly<Record<string, number>> = {
    'system.cpu.error': 0,
    'system.cpu0.user': load1 / 2,
    'system.cpu0.system': load1 / 4,
    'system.cpu0.idle': -0.5,
    'system.load.load1': load1,
    'system.load.load5': load5,
    'system.load.load15': load15,
    'system.memory.error': 0,
    'system.memory.total': totalmem(),
    'system.memory.used': totalmem() - freemem(),
    'system.memory.free': freemem(),
    'system.disk.persistent.total': disk.total,
    'system.disk.persistent.used': used,
    'system.disk.persistent.free': disk.free,
    'parachute.error': 0,
    'parachute.activated': 0,
    'parachute.disk.persistent.total': disk.total,
    'parachute.disk.persistent.used': used,
    'parachute.disk.persistent.used_percent': (100 * used) / disk.total,
    'parachute.disk.persistent.used_threshold': 80,
    'parachute.disk.persistent.free': disk.free,
    'parachute.disk.persistent.activated': 0,
    'garden.gnomes': 7,
  };
  const at = Math.floor(now.getTime() / 1000);
  return [at - 20, at, at - 10].flatMap((second) =>
    Object.entries(values).map(
      ([path, value]) => `acme-kv_7.${instance.number}.${path} ${value.toExponential()} ${second}`,
    ),
  );
}

/**
 * Endpoint 16: the latest `quantity` points. Latest is what has the highest time; the order stays as it was.
 */
export function latest(points: readonly string[], quantity: number): string[] {
  const secondOf = (point: string) => Number(point.split(' ')[2]);
  const byTime = points.toSorted((a, b) => secondOf(b) - secondOf(a));
  const kept = new Set(byTime.slice(0, quantity));
  return points.filter((point) => kept.has(point));
}
