import { readFileSync } from 'node:fs';

export interface Used {
  /** Of processor time. */
  readonly seconds: number;
  /** The largest resident memory. */
  readonly peakMiB: number;
  /** The resident memory. */
  readonly residentMiB: number;
}

/** Clock ticks a second that Linux counts processor time in, for programs (`sysconf(_SC_CLK_TCK)`). */
const TICKS = 100;

/** What a process that lives has used until now (proc_pid_stat(5), proc_pid_status(5)). */
export function usedBy(pid: number | undefined): Used {
  // The name of the program, in brackets, may hold anything.
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?!.*\) )/su);
  const [user, system] = fields.split(' ').slice(11, 13).map(Number) as [number, number];
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [peakMiB = 0, residentMiB = 0] = ['VmHWM', 'VmRSS'].map(
    (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'mu').exec(status)?.[1]) / 1024,
  );
  return { seconds: (user + system) / TICKS, peakMiB, residentMiB };
}
