import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Secret } from '../../base/secret.ts';
import { inTurn } from '../data/in-turn.ts';
import type { AppProcess } from './app-process.ts';

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
        () => lastErrorOf(candidate) ?? 'the new process does not answer',
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

function lastErrorOf({ report }: AppProcess): string | undefined {
  return report?.lastError ?? undefined;
}
