import { EXIT, LifeboatError } from '../errors.ts';
import type { CommandContext } from './context.ts';

/** `lifeboat lab`: runs the service until Ctrl-C. The config goes to stdout, everything else to stderr. */
export async function lab(
  context: CommandContext,
  _: readonly string[],
  flags: { readonly port?: string; readonly revision: '61' | '62'; readonly folder?: string },
): Promise<number> {
  const { startLab } = await import('../lab/lab.ts');
  const { stdout, stderr } = context;
  const stop = stopSignal();
  const began = performance.now();
  const started = await startLab({
    ...(flags.port === undefined ? {} : { port: portNumber(flags.port) }),
    ...(flags.folder === undefined ? {} : { folder: flags.folder }),
    revision: flags.revision === '61' ? 61 : 62,
    signal: stop.signal,
    log: (line) => stderr.write(`${line}\n`),
  });
  try {
    stdout.write(started.configYaml);
    const took = ((performance.now() - began) / 1000).toFixed(1);
    stderr.write(`the lab is ready after ${took} s: ${started.url}\n`);
    stderr.write(
      'hint: keep the lines above as lifeboat.yaml (`lifeboat lab > lifeboat.yaml`) and use another terminal\n',
    );
    stderr.write('Ctrl-C ends it and removes everything\n');
    await stop.stopped;
    stderr.write('ending the lab\n');
    return EXIT.closed;
  } finally {
    await started.close();
    stop.release();
  }
}

function portNumber(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new LifeboatError('usage.port', `${text} is not a port`, { exitCode: EXIT.usage });
}

/** Resolves at the first SIGINT, SIGTERM or SIGHUP; later ones do not cut the clean-up short. */
export function stopSignal(): {
  readonly signal: AbortSignal;
  readonly stopped: Promise<void>;
  release(): void;
} {
  const controller = new AbortController();
  const stopped = new Promise<void>((resolve) =>
    controller.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  const stop = () => controller.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, stop);
  return {
    signal: controller.signal,
    stopped,
    release() {
      for (const signal of signals) process.off(signal, stop);
    },
  };
}
