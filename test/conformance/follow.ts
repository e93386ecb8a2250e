import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from './api.ts';
import { call, ENDPOINTS, successOf, UNKNOWN } from './endpoints.ts';
import type { Exchange } from './exchange.ts';
import { ensure, expectBody } from './expect.ts';
import { SomeBackup, SomeOverview, SomeRestore, type STATUSES } from './shapes.ts';
import type { Subject } from './subject.ts';

type TaskStatus = (typeof STATUSES)[number];

/** One look at a task. */
export interface Look<T> {
  readonly value: T;
  readonly status: TaskStatus;
  readonly exchange: Exchange;
}

const NEXT: Record<TaskStatus, readonly TaskStatus[]> = {
  queued: ['queued', 'running', 'done', 'failed'],
  running: ['running', 'done', 'failed'],
  done: ['done'],
  failed: ['failed'],
  deleted: [],
};

/**
 * Looks at a task until it is `done` or `failed`. Rejects with a `Violation` when its status goes backwards
 * or it is not over by the deadline of the subject.
 */
export async function followTask<T>(subject: Subject, look: () => Promise<Look<T>>): Promise<Look<T>> {
  const end = performance.now() + subject.deadline;
  let before: TaskStatus = 'queued';
  for (let wait = subject.poll; ; wait = Math.min(wait * 1.5, subject.poll * 10)) {
    const seen = await look();
    const { status, exchange } = seen;
    ensure(NEXT[before].includes(status), `the status went from ${before} to ${status}`, exchange);
    if (status === 'done' || status === 'failed') return seen;
    before = status;
    ensure(
      performance.now() < end,
      `still ${status} after ${Math.round(subject.deadline / 1000)} s`,
      exchange,
    );
    await pause(wait);
  }
}

/** Follows a backup by endpoint 2 to its end, and gives it as seen there last. */
export async function followBackup(subject: Subject, id: number): Promise<Look<SomeBackup>> {
  const { revision, api } = subject;
  const endpoint = ENDPOINTS.getBackup;
  return await followTask(subject, async () => {
    const exchange = await call(api, endpoint, { ...UNKNOWN, backup: id });
    const value = expectBody(exchange, successOf(endpoint, revision), SomeBackup);
    expectTimes(value, exchange);
    return { value, status: value.status, exchange };
  });
}

/** Follows a restore of the instance that `api` speaks to by endpoint 6. */
export async function followRestore(subject: Subject, api: Api, id: number): Promise<Look<SomeRestore>> {
  const endpoint = ENDPOINTS.getRestore;
  return await followTask(subject, async () => {
    const exchange = await call(api, endpoint, { ...UNKNOWN, restore: id });
    const value = expectBody(exchange, successOf(endpoint, subject.revision), SomeRestore);
    expectTimes(value, exchange);
    return { value, status: value.status, exchange };
  });
}

/** Waits until the instance is no longer being deployed; resolves with its overview. */
export async function followState(subject: Subject, api: Api = subject.api): Promise<SomeOverview> {
  const endpoint = ENDPOINTS.overview;
  const end = performance.now() + subject.deadline;
  for (let wait = subject.poll; ; wait = Math.min(wait * 1.5, subject.poll * 10)) {
    const exchange = await call(api, endpoint, UNKNOWN);
    const overview = expectBody(exchange, successOf(endpoint, subject.revision), SomeOverview);
    if (overview.state !== 'deploying') {
      const well = overview.state === 'provisioned' || overview.state === 'available';
      ensure(well, `the instance ended up as ${overview.state}`, exchange);
      return overview;
    }
    ensure(performance.now() < end, 'still deploying at the deadline', exchange);
    await pause(wait);
  }
}

interface Timed {
  readonly triggered_at: string;
  readonly started_at?: string | null | undefined;
  readonly finished_at?: string | null | undefined;
  readonly status: TaskStatus;
}

/** The document promises no Date: a router in front of the service may write it, by a clock of its own. */
export const CLOCK_GRAIN = 60_000;

/** Triggered, started, finished: in this order, and none later than the clock of the service. */
export function expectTimes(task: Timed, exchange: Exchange): void {
  const names = ['triggered_at', 'started_at', 'finished_at'] as const;
  const times = names.flatMap((name) => {
    const text = task[name];
    return typeof text === 'string' ? [{ name, at: Date.parse(text) }] : [];
  });
  times.forEach(({ name, at }, index) => {
    const next = times[index + 1];
    ensure(next === undefined || at <= next.at, `${name} is later than ${next?.name}`, exchange);
    expectPast(name, at, exchange);
  });
}

/** A time that is not later than the clock of the service. */
export function expectPast(name: string, at: number, exchange: Exchange): void {
  const isPast = exchange.date === undefined || at <= exchange.date + CLOCK_GRAIN;
  ensure(isPast, `${name} is later than the Date of the answer`, exchange);
}
