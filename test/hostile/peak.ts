import { readFileSync } from 'node:fs';
import type { Ended, Running } from '../bench-kit/product.ts';

export interface Measured extends Ended {
  /** The most memory that the process ever had in use, MiB; as the kernel counts it (VmHWM, proc(5)). */
  readonly peak: number;
  readonly seconds: number;
}

/** Longer than anything here takes on the busiest machine: a later wait is for something that never comes. */
const LONGEST_MS = 150_000;

/**
 * Waits for the end of a process and looks all the while at its peak. One that does not end is ended, and has
 * no exit code.
 */
export async function measured({ child, ended }: Running): Promise<Measured> {
  const began = performance.now();
  let peak = 0;
  const look = () => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB/mu.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It has ended.
    }
  };
  const timer = setInterval(look, 5);
  const giveUp = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  try {
    return { ...(await ended), peak, seconds: (performance.now() - began) / 1_000 };
  } finally {
    clearInterval(timer);
    clearTimeout(giveUp);
  }
}
