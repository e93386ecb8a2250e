import { readFile, statfs } from 'node:fs/promises';
import { cpus, freemem, homedir, loadavg, tmpdir, totalmem } from 'node:os';

/** At one sample every few seconds, some minutes. */
const KEPT_SAMPLES = 60;
/** Disk use in percent at which the parachute stops the instance (domain: default). */
const PARACHUTE_THRESHOLD = 80;
/** `<service_type>.<index>.` of section 2.8. */
const PREFIX = 'postgresql.0';

/**
 * An instance's figures (service-api.md section 2.8): really this machine's. Memory and disks in bytes,
 * processor in percent since the last sample, `error` 1 where something cannot be measured.
 */
export class InstanceMetrics {
  readonly #dataFolder: () => string;
  readonly #now: () => Date;
  #samples: readonly (readonly string[])[] = [];
  #processor: ProcessorTimes | undefined;
  #pressed: number | undefined;

  constructor(dataFolder: () => string, now: () => Date) {
    this.#dataFolder = dataFolder;
    this.#now = now;
  }

  /** Data points, oldest first; with a quantity only the latest ones. */
  points(quantity = Number.POSITIVE_INFINITY): readonly string[] {
    const all = this.#samples.flat();
    return all.slice(Math.max(0, all.length - quantity));
  }

  /** Makes the persistent disk appear this full in the next sample, in percent; undefined ends that. */
  press(percent: number | undefined): void {
    this.#pressed = percent;
  }

  async sample(): Promise<void> {
    const [memory, disks] = await Promise.all([memoryFigures(), this.#diskFigures()]);
    const seconds = Math.floor(this.#now().getTime() / 1000);
    const figures = { ...this.#processorFigures(), ...loadFigures(), ...memory, ...disks };
    const lines = Object.entries(figures).map(([path, value]) => `${PREFIX}.${path} ${value} ${seconds}`);
    this.#samples = [...this.#samples, lines].slice(-KEPT_SAMPLES);
  }

  #processorFigures(): Figures {
    const times = cpus()[0]?.times;
    const before = this.#processor ?? { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 };
    this.#processor = times;
    if (times === undefined) return { 'system.cpu.error': 1 };
    const spent = (pick: (of: ProcessorTimes) => number) => Math.max(0, pick(times) - pick(before));
    const all = spent(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq);
    const percent = (part: number) => (all === 0 ? 0 : round((part / all) * 100));
    return {
      'system.cpu.error': 0,
      'system.cpu0.user': percent(spent(({ user, nice }) => user + nice)),
      'system.cpu0.system': percent(spent(({ sys, irq }) => sys + irq)),
      'system.cpu0.idle': percent(spent(({ idle }) => idle)),
    };
  }

  async #diskFigures(): Promise<Figures> {
    const data = this.#dataFolder();
    const folders: Record<string, string> = {
      system: '/',
      ephemeral: tmpdir(),
      var_log: '/var/log',
      tmp: '/tmp',
      var_tmp: '/var/tmp',
      home: homedir(),
      persistent: data,
    };
    const names = Object.keys(folders);
    const measured = await Promise.all(names.map((name) => diskUse(folders[name] ?? '/')));
    const uses = new Map(names.map((name, at) => [name, this.#pressure(name, measured[at])]));
    const mounts = [...uses].map(([name, use]) => named(`system.disk.${name}`, use ?? { error: 1 }));
    const watched = ['ephemeral', 'persistent'].map((name) => [name, uses.get(name)] as const);
    const guarded = watched.map(([name, use]) => named(`parachute.disk.${name}`, guardFigures(use)));
    const opened = watched.some(([, use]) => guardFigures(use)['activated'] === 1);
    const failed = [...uses.values()].includes(undefined);
    return Object.assign(
      { 'system.disk.error': Number(failed) },
      ...mounts,
      { 'parachute.error': Number(failed), 'parachute.activated': Number(opened) },
      ...guarded,
    );
  }

  #pressure(name: string, use: DiskUse | undefined): DiskUse | undefined {
    if (name !== 'persistent' || this.#pressed === undefined || use === undefined) return use;
    const used = Math.round((use.total * this.#pressed) / 100);
    return { ...use, used, free: use.total - used };
  }
}

type Figures = Readonly<Record<string, number>>;

interface ProcessorTimes {
  readonly user: number;
  readonly nice: number;
  readonly sys: number;
  readonly idle: number;
  readonly irq: number;
}

interface DiskUse {
  readonly error: number;
  readonly total: number;
  readonly used: number;
  readonly free: number;
}

function loadFigures(): Figures {
  const [load1 = 0, load5 = 0, load15 = 0] = loadavg();
  return named('system.load', { load1: round(load1), load5: round(load5), load15: round(load15) });
}

/** Linux has all of it in proc_meminfo(5); elsewhere only total and free memory are known. */
async function memoryFigures(): Promise<Figures> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => undefined);
  if (text === undefined) {
    const [total, free] = [totalmem(), freemem()];
    return named('system.memory', { error: 0, total, used: total - free, free });
  }
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}: +(?<kib>\\d+) kB$`, 'mu').exec(text)?.groups?.['kib'] ?? 0) * 1024;
  const [total, free, buffers, cached] = [
    bytes('MemTotal'),
    bytes('MemFree'),
    bytes('Buffers'),
    bytes('Cached'),
  ];
  const swap = { total: bytes('SwapTotal'), free: bytes('SwapFree') };
  return {
    ...named('system.memory', {
      error: 0,
      total,
      used: Math.max(0, total - free - buffers - cached),
      free,
      shared: bytes('Shmem'),
      buffers,
      cached,
    }),
    ...named('system.swap', { error: 0, total: swap.total, used: swap.total - swap.free, free: swap.free }),
  };
}

async function diskUse(folder: string): Promise<DiskUse | undefined> {
  const facts = await statfs(folder).catch(() => undefined);
  if (facts === undefined) return undefined;
  const total = facts.blocks * facts.bsize;
  const free = facts.bavail * facts.bsize;
  return { error: 0, total, used: total - facts.bfree * facts.bsize, free };
}

function guardFigures(use: DiskUse | undefined): Figures {
  if (use === undefined) return { error: 1, activated: 0 };
  // As df(1) counts: space reserved for the superuser is of no use to a database.
  const usable = use.used + use.free;
  const percent = usable === 0 ? 0 : round((use.used / usable) * 100);
  return {
    ...use,
    used_percent: percent,
    used_threshold: PARACHUTE_THRESHOLD,
    activated: Number(percent >= PARACHUTE_THRESHOLD),
  };
}

function named(prefix: string, figures: Figures | DiskUse): Figures {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${prefix}.${name}`, value]));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
