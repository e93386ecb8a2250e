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
  /** It came with this instance. */
  readonly instance: string;
  readonly work: 'api' | 'report';
}

export interface LabAppParts {
  /** Rejects when the lab ends. */
  readonly spawn: (app: LabApp, services: Secret) => Promise<AppProcess>;
  readonly services: (app: LabApp) => Secret;
  readonly now: () => Date;
  readonly log: (line: string) => void;
  readonly closing: AbortSignal;
}

/** One process while started, two during a rollout, none while stopped. */
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

  /** The GUID for the next process. */
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

  /** The process, with the current credentials, comes up later. */
  start(): void {
    if (this.#state === 'STARTED') return;
    this.#become('STARTED');
    void this.#turn(async () => {
      if (this.#state === 'STARTED' && this.#process === undefined)
        await this.#launch(this.#parts.services(this));
    }).catch((error: unknown) => this.#complain(error));
  }

  /** Resolves when no process is left. */
  async stop(): Promise<void> {
    this.#become('STOPPED');
    await this.#turn(async () => {
      const old = this.#process;
      this.#process = undefined;
      await old?.stop();
    });
  }

  /** Replaces the process once one with the current credentials works; else keeps it and returns why. */
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

  /** As the platform does: with the same credentials, after a pause that grows. */
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

/** Times are RFC 3339, by the machine's own clock. */
const AppReport = z.object({
  app: z.string(),
  /** `ok` if the last query succeeded. */
  state: z.enum(['starting', 'ok', 'failing']),
  since: z.string(),
  /** It stays after recovery. */
  lastError: z.string().nullable(),
  orders: z.object({
    /** By this process. */
    placed: z.int(),
    /** The highest order number seen. */
    newest: z.string().nullable(),
    sum: z.string().optional(),
  }),
  port: z.int(),
});
type AppReport = z.infer<typeof AppReport>;

/** With the credentials that it was started with. */
export interface AppProcess {
  readonly pid: number;
  readonly startedAt: Date;
  readonly services: Secret;
  /** The newest; undefined before the first. */
  readonly report: AppReport | undefined;
  readonly running: boolean;
  /** When it first works; never settles if it never does. */
  readonly worked: Promise<void>;
  /** With the exit code or signal name, and the last lines of error output. */
  readonly ended: Promise<string>;
  /** Idempotent. Resolves when the process is gone. */
  stop(): Promise<void>;
}

interface AppProcessOptions {
  readonly launcher: Launcher;
  /** 0700: the credentials pass through a file in it. */
  readonly folder: string;
  readonly name: string;
  readonly work: 'api' | 'report';
  readonly perSecond: number;
  /** JSON. */
  readonly services: Secret;
  readonly changed: () => void;
}

/** No secret in arguments or environment. The launcher ends it when this process dies, for any reason. */
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

/** A source file beside this one; in the bundle, an entry point beside this chunk; else the executable. */
export function sampleAppFile(): string {
  if (isSingleExecutable()) return process.execPath;
  const isSource = import.meta.filename.endsWith('.ts');
  return join(import.meta.dirname, isSource ? 'sample-app.ts' : 'sample-app.js');
}

/** A single executable cannot run another file: it has a hidden command for this. */
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
  /** By name; its next process uses the first. */
  readonly bound: readonly string[];
  readonly instance: string;
  /** `crashed`: without a process until the end of a pause. */
  readonly state: 'stopped' | 'crashed' | 'starting' | 'ok' | 'failing';
  /** Undefined until the process answers. */
  readonly url: string | undefined;
  readonly pid: number | undefined;
  /** RFC 3339: since when `ok` or `failing`. */
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
