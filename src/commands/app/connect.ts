import { spawn } from 'node:child_process';
import { Writable } from 'node:stream';
import type { CommandContext } from '../../cli/context.ts';
import { askOnlyOnce } from '../../cli/kept-passphrase.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { OutputStream } from '../../plain/terminal.ts';
import type { AppPort, OnScreen } from '../../view/app/app-port.ts';
import type { Loaders, SourceName } from '../../view/app/sources.ts';
import type { RunEnd, RunPort } from '../../view/run-port.ts';
import type { loadersFor } from './loaders.ts';

/** The app runs the commands of the command line, on its screen. */
export function connect(context: CommandContext, config: LoadedConfig, screen: OnScreen): AppPort {
  const { passphrase } = context;
  const lookingOn = passphrase && askOnlyOnce(passphrase);
  const looking = { ...beside(context, screen, []), passphrase: lookingOn };
  // The loaders are only imported when a screen first needs data.
  let opened: Promise<ReturnType<typeof loadersFor>> | undefined;
  const loadersOf = () => {
    opened ??= import('./loaders.ts').then((module) => module.loadersFor(looking, config));
    return opened;
  };
  const shown = async (
    show: (port: RunPort) => Promise<RunEnd>,
    act: (context: CommandContext) => Promise<number>,
  ): Promise<readonly string[]> => {
    const lines: string[] = [];
    await act({ ...beside(context, screen, lines), showRun: show });
    return lines;
  };
  return {
    loaders: lazily(loadersOf),
    start: async (wish, show) => {
      const { run } = await import('../run/run.ts');
      const { runbook, ...flags } = wish;
      return shown(show, (inner) => run(inner, [runbook], flags));
    },
    startPlan: async ({ plan, ...flags }) => {
      const { plansRun } = await import('../plans/run.ts');
      const show = () => Promise.reject(new Error('a plan has a screen of its own'));
      return shown(show, (inner) => plansRun(inner, [plan], flags));
    },
    resume: async (runId, show) => {
      const { resume } = await import('../run/resume.ts');
      return shown(show, (inner) => resume(inner, [runId], {}));
    },
    watch: async (runId) => {
      const { watchBeside } = await import('../run/watch.ts');
      return watchBeside(beside(context, screen, []), runId);
    },
    writeReport: async (runId) => {
      const { writeReport } = await import('./loaders.ts');
      return writeReport(beside(context, screen, []), runId);
    },
    carryOut: async (errand, leaving) => {
      const module = await import('./carry-out.ts');
      return module.carryOut((lines) => ({ ...beside(context, screen, lines), leaving }), errand);
    },
    changeLab: async (change) => {
      const module = await import('./load-lab.ts');
      return module.changeLab(config, change);
    },
    addKey: async (instance, file) => {
      const { keysAdd } = await import('../keys/keys.ts');
      const { pathOf } = await import('./check-file.ts');
      const lines: string[] = [];
      // Resolve the path: `-` does not mean standard input here, which is the app's keyboard.
      const flags = file === undefined ? {} : { file: pathOf(context.env, file) };
      await keysAdd(beside(context, screen, lines), [], { instance, ...flags });
      return lines.join('; ');
    },
    unlock: () => lookingOn?.askAgain(),
    shell: () => shell(context),
  };
}

/** Loaders that are imported on the first call. */
function lazily(loaded: () => Promise<Loaders>): Loaders {
  const load = async (name: SourceName, args: readonly unknown[]) => {
    const loaders = await loaded();
    return Reflect.apply(loaders[name], undefined, args);
  };
  return new Proxy({} as Loaders, {
    get:
      (_, name) =>
      (...args: readonly unknown[]) =>
        load(name as SourceName, args),
  });
}

/** For a command beneath the screen: its output is kept, and the screen asks its questions. */
function beside(context: CommandContext, screen: OnScreen, lines: string[]): CommandContext {
  const { stdout, stderr } = context;
  const { output: _, restoreEcho: __, ...rest } = context;
  return {
    ...rest,
    stdout: collector(stdout, lines),
    stderr: collector(stderr, lines),
    screen,
  };
}

function collector({ columns }: OutputStream, lines: string[]): OutputStream {
  let rest = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      const [last = '', ...whole] = `${rest}${chunk}`.split('\n').toReversed();
      rest = last;
      lines.push(...whole.toReversed().filter((line) => line !== ''));
      done();
    },
  });
  return Object.assign(stream, { isTTY: false, columns: columns ?? 80 });
}

/** The user's own shell, in this folder, with the app's home and config. Its exit code is ignored. */
function shell({ env, configPath, stdout }: CommandContext): Promise<void> {
  stdout.write('a shell beside lifeboat: `exit` goes back to the screen\n');
  const named = configPath === undefined ? {} : { LIFEBOAT_CONFIG: configPath };
  const child = spawn(env['SHELL'] || 'sh', [], { stdio: 'inherit', env: { ...env, ...named } });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}
