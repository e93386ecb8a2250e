import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { isSingleExecutable, ownProgram } from '../../base/own-program.ts';
import type { Secret } from '../../base/secret.ts';
import { inTurn } from '../data/in-turn.ts';
import type { Launcher } from '../engine/launcher.ts';
import type { CredentialBinding } from './credential-bindings.ts';

export interface LabAppFacts {
  readonly name: string;
  /** The name of the instance that it came with. */
  readonly instance: string;
  readonly work: 'api' | 'report';
}

export interface LabAppParts {
  /** Starts a process of the application; rejects when the lab ends. */
  readonly spawn: (app: LabApp, services: Secret) => Promise<AppProcess>;
  /** The current VCAP_SERVICES. */
  readonly services: (app: LabApp) => Secret;
  readonly now: () => Date;
  readonly log: (line: string) => void;
  readonly closing: AbortSignal;
}

/** An application: one process while it is started, two while it is rolled out, none while stopped. */
export class LabApp {
  readonly guid = randomUUID();
  readonly facts: LabAppFacts;
  readonly createdAt: Date;
  readonly #parts: LabAppParts;
  readonly #turn = inTurn();
  #state: 'STARTED' | 'STOPPED' = 'STOPPED';
  #updatedAt: Date;
  #droplet: string | undefined;
  #process: AppProcess | undefined;
  #crashes = 0;

  constructor(facts: LabAppFacts, parts: LabAppParts) {
    this.facts = facts;
    this.#parts = parts;
    this.createdAt = parts.now();
    this.#updatedAt = this.createdAt;
  }

  get name(): string {
    return this.facts.name;
  }

  get state(): 'STARTED' | 'STOPPED' {
    return this.#state;
  }

  get updatedAt(): Date {
    return this.#updatedAt;
  }

  /** GUID of the droplet that the next process is started from. */
  get droplet(): string | undefined {
    return this.#droplet;
  }

  set droplet(guid: string | undefined) {
    this.#droplet = guid;
    this.#updatedAt = this.#parts.now();
  }

  get process(): AppProcess | undefined {
    return this.#process;
  }

  /** Starts it; its process, with the current credentials, comes up later. */
  start(): void {
    if (this.#state === 'STARTED') return;
    this.#become('STARTED');
    void this.#turn(async () => {
      if (this.#state === 'STARTED' && this.#process === undefined)
        await this.#launch(this.#parts.services(this));
    }).catch((error: unknown) => this.#complain(error));
  }

  /** Resolves when it has no process. */
  async stop(): Promise<void> {
    this.#become('STOPPED');
    await this.#turn(async () => {
      const old = this.#process;
      this.#process = undefined;
      await old?.stop();
    });
  }

  /**
   * Replaces the process by one with the current credentials, as soon as that works. Otherwise keeps the old
   * one and returns why.
   */
  async roll(patienceMs: number, signal: AbortSignal): Promise<string | undefined> {
    const candidate = await this.#parts.spawn(this, this.#parts.services(this));
    const either = AbortSignal.any([signal, this.#parts.closing]);
    const end = await Promise.race([
      candidate.worked.then(() => 'works' as const),
      candidate.ended.then((how) => `the new process ended with ${how}`),
      pause(patienceMs, undefined, { signal: either, ref: false }).then(
        () => candidate.report?.lastError ?? 'the new process does not answer',
        () => 'canceled',
      ),
    ]);
    if (end !== 'works' || either.aborted) {
      await candidate.stop();
      return end === 'works' ? 'canceled' : end;
    }
    const old = this.#process;
    this.#become('STARTED');
    this.#adopt(candidate);
    await old?.stop();
    return undefined;
  }

  #become(state: 'STARTED' | 'STOPPED'): void {
    this.#state = state;
    this.#crashes = 0;
    this.#updatedAt = this.#parts.now();
  }

  async #launch(services: Secret): Promise<void> {
    this.#adopt(await this.#parts.spawn(this, services));
  }

  #adopt(process: AppProcess): void {
    this.#process = process;
    void process.ended.then(async (how) => {
      if (this.#process !== process || this.#parts.closing.aborted) return;
      this.#parts.log(`the application ${this.name} ended with ${how}`);
      await this.#startAgain(process).catch((error: unknown) => this.#complain(error));
    });
  }

  /** Restarts as the platform does: with the same credentials, after a pause that grows. */
  async #startAgain(crashed: AppProcess): Promise<void> {
    const delay = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#crashes);
    this.#crashes += 1;
    await pause(delay, undefined, { signal: this.#parts.closing, ref: false }).catch(() => undefined);
    await this.#turn(async () => {
      if (this.#process === crashed && !this.#parts.closing.aborted) await this.#launch(crashed.services);
    });
  }

  #complain(error: unknown): void {
    if (!this.#parts.closing.aborted)
      this.#parts.log(`the application ${this.name} does not start: ${String(error)}`);
  }
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** What an application reports. Times are RFC 3339, by the machine's own clock. */
const AppReport = z.object({
  app: z.string(),
  /** Whether its last query succeeded. */
  state: z.enum(['starting', 'ok', 'failing']),
  since: z.string(),
  /** Its last error; it stays after recovery. */
  lastError: z.string().nullable(),
  orders: z.object({
    /** By this process. */
    placed: z.int(),
    /** The highest order number that it has seen. */
    newest: z.string().nullable(),
    sum: z.string().optional(),
  }),
  port: z.int(),
});
type AppReport = z.infer<typeof AppReport>;

/** One process of an application, with the credentials that it was started with. */
export interface AppProcess {
  readonly pid: number;
  readonly startedAt: Date;
  readonly services: Secret;
  /** The newest report; undefined before the first. */
  readonly report: AppReport | undefined;
  readonly running: boolean;
  /** Resolves when it first works; never settles if it never does. */
  readonly worked: Promise<void>;
  /** Resolves with the exit code or signal name, and the last lines of its error output. */
  readonly ended: Promise<string>;
  /** Safe to call twice. Resolves when the process is gone. */
  stop(): Promise<void>;
}

interface AppProcessOptions {
  readonly launcher: Launcher;
  /** 0700: the credentials pass through a file in it. */
  readonly folder: string;
  readonly name: string;
  readonly work: 'api' | 'report';
  readonly perSecond: number;
  /** VCAP_SERVICES as JSON. */
  readonly services: Secret;
  /** Called when its report or state changes. */
  readonly changed: () => void;
}

/**
 * Starts a sample application. Neither its arguments nor its environment hold a secret. It ends when this
 * process dies, for any reason: the launcher ensures that.
 */
export async function startAppProcess(options: AppProcessOptions): Promise<AppProcess> {
  const { launcher, folder, name, work, perSecond, services, changed } = options;
  const file = join(folder, `${randomUUID()}.json`);
  const about = JSON.stringify({ name, work, perSecond }).slice(0, -1);
  await writeFile(file, `${about},"VCAP_SERVICES":${services.reveal()}}`, { mode: 0o600, flag: 'wx' });
  const [program = '', ...words] = sampleApp();
  const child = launcher.start(program, [...words, file]);
  const startedAt = new Date();
  let report: AppReport | undefined;
  let running = true;
  const { promise: worked, resolve: works } = Promise.withResolvers<void>();
  const complaint = tailOf(child);
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      report = reportIn(line) ?? report;
      if (report?.state === 'ok') works();
      changed();
    });
  }
  const ended = endOf(child).then(async (end) => {
    running = false;
    await rm(file, { force: true });
    changed();
    return [end, ...complaint()].join(': ');
  });
  return {
    pid: child.pid ?? 0,
    startedAt,
    services,
    get report() {
      return report;
    },
    get running() {
      return running;
    },
    worked,
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
      await ended;
      clearTimeout(patience);
    },
  };
}

/**
 * The sample application's file: a source file beside this one, or, in the bundle, an entry point beside this
 * chunk. A single executable contains it.
 */
export function sampleAppFile(): string {
  if (isSingleExecutable()) return process.execPath;
  const isSource = import.meta.filename.endsWith('.ts');
  return join(import.meta.dirname, isSource ? 'sample-app.ts' : 'sample-app.js');
}

/** A single executable cannot run another file, so it has a hidden command for the sample application. */
function sampleApp(): readonly string[] {
  return isSingleExecutable()
    ? [...ownProgram(), 'lab-app']
    : [process.execPath, ...NODE_FLAGS, sampleAppFile()];
}

/** Little memory, and no warning about type stripping. */
const NODE_FLAGS = ['--max-old-space-size=48', '--disable-warning=ExperimentalWarning'];
const PATIENCE_MS = 3_000;
const KEPT_LINES = 5;

function reportIn(line: string): AppReport | undefined {
  try {
    return AppReport.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(String(code ?? signal)));
  });
}

function tailOf(child: ChildProcess): () => readonly string[] {
  const lines: string[] = [];
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (line.trim() !== '') lines.push(line.trim().slice(0, 200));
      if (lines.length > KEPT_LINES) lines.shift();
    });
  }
  return () => lines;
}

export interface AppState {
  readonly name: string;
  readonly guid: string;
  /** The instances that it is bound to, by name; the one that its next process uses is the first. */
  readonly bound: readonly string[];
  /** The instance that it came with. */
  readonly instance: string;
  /** `crashed`: it has no process, and gets one after a pause. */
  readonly state: 'stopped' | 'crashed' | 'starting' | 'ok' | 'failing';
  /** Its process's address; undefined until it answers. */
  readonly url: string | undefined;
  readonly pid: number | undefined;
  /** RFC 3339, since when `ok` or `failing`. */
  readonly since: string | undefined;
  readonly lastError: string | undefined;
  readonly orders: AppReport['orders'] | undefined;
}

export function appStateOf(app: LabApp, bindings: readonly CredentialBinding[]): AppState {
  const { process } = app;
  const alive = process?.running === true ? process : undefined;
  const report = alive?.report;
  return {
    name: app.name,
    guid: app.guid,
    instance: app.facts.instance,
    bound: bindings
      .filter((binding) => binding.app === app)
      .map(({ instance }) => instance.name)
      .toReversed(),
    state:
      app.state === 'STOPPED'
        ? 'stopped'
        : (report?.state ?? (process?.running === false ? 'crashed' : 'starting')),
    url: report === undefined ? undefined : `http://127.0.0.1:${report.port}`,
    pid: alive?.pid,
    since: report?.since,
    lastError: report?.lastError ?? undefined,
    orders: report?.orders,
  };
}
