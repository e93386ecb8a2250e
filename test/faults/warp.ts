import { createRequire, syncBuiltinESMExports } from 'node:module';
import process from 'node:process';

/*
 * Preloaded with `node --import`, it lets the clock of a whole process run faster: what reads the time, and
 * what waits for it, by the same factor. The product is tried with the patience that it has, two minutes and
 * more, without a setting for tests alone.
 *
 * `FAULTS_SPEED` is the factor; `FAULTS_EPOCH` the moment from which on time runs faster, in milliseconds
 * since 1970, so that two processes agree on what time it is. The waits inside Node itself, such as its own
 * limits on requests, keep their pace.
 */
const speed = Number(process.env['FAULTS_SPEED'] ?? 1);

if (speed > 1) {
  const require = createRequire(import.meta.url);
  const RealDate = Date;
  const epoch = Number(process.env['FAULTS_EPOCH'] ?? RealDate.now());
  process.env['FAULTS_EPOCH'] = String(epoch);
  const now = () => Math.floor(epoch + (RealDate.now() - epoch) * speed);

  class FastDate extends RealDate {
    constructor(...given: []) {
      if (given.length === 0) super(now());
      else super(...given);
    }
    static override now(): number {
      return now();
    }
  }
  globalThis.Date = FastDate as DateConstructor;

  const shorter = (ms: unknown) => Number(ms ?? 0) / speed;
  const { setTimeout: wait, setInterval: repeat } = globalThis;
  const fastTimeout = (act: () => void, ms?: number, ...rest: []) => wait(act, shorter(ms), ...rest);
  const fastInterval = (act: () => void, ms?: number, ...rest: []) => repeat(act, shorter(ms), ...rest);
  Object.assign(globalThis, { setTimeout: fastTimeout, setInterval: fastInterval });

  const promises = require('node:timers/promises') as {
    setTimeout: (ms?: number, value?: unknown, options?: object) => Promise<unknown>;
  };
  const rest = promises.setTimeout;
  promises.setTimeout = (ms, value, options) => rest(shorter(ms), value, options);
  Object.assign(require('node:timers') as object, { setTimeout: fastTimeout, setInterval: fastInterval });
  const os = require('node:os') as { uptime: () => number };
  const { uptime } = os;
  os.uptime = () => uptime() * speed;
  syncBuiltinESMExports();

  const timeout = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (ms) => timeout(Math.ceil(shorter(ms)));
}
