import { writeFileSync } from 'node:fs';
import process from 'node:process';

/**
 * Measures each frame that a timer causes from now on: the processor time of this thread from the begin of
 * the timer's callback until the frame is written, with all that is read and laid out for it. Gives what
 * writes them, in milliseconds as JSON, to the file that the environment names as FRAMES.
 */
export function measureFrames(): () => void {
  const frames: number[] = [];
  let open: { readonly cpu: NodeJS.CpuUsage; readonly written: number } | undefined;
  const close = () => {
    if (open === undefined) return;
    const { user, system } = process.threadCpuUsage(open.cpu);
    if (process.stdout.bytesWritten > open.written) frames.push((user + system) / 1000);
    open = undefined;
  };
  const measured =
    <Args extends readonly unknown[]>(act: (...args: Args) => void) =>
    (...args: Args) => {
      close();
      open = { cpu: process.threadCpuUsage(), written: process.stdout.bytesWritten };
      act(...args);
      // React draws in a microtask: before the event loop goes on, but after the callback.
      setImmediate(close);
    };
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const begin = globalThis[name] as (act: () => void, ms?: number) => NodeJS.Timeout;
    Object.assign(globalThis, { [name]: (act: () => void, ms?: number) => begin(measured(act), ms) });
  }
  return () => {
    const to = process.env['FRAMES'];
    if (to !== undefined) writeFileSync(to, JSON.stringify(frames));
  };
}
