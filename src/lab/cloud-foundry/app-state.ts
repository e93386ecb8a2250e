import type { AppReport } from './app-process.ts';
import type { CredentialBinding } from './credential-bindings.ts';
import type { LabApp } from './lab-app.ts';

/** What a person wants to know of an application of the lab. */
export interface AppState {
  readonly name: string;
  readonly guid: string;
  /** The instances that it is bound to, by name; the one that its next process uses is the first. */
  readonly bound: readonly string[];
  /** The instance that it came with. */
  readonly instance: string;
  /** `crashed`: it has no process, and gets one after a pause. */
  readonly state: 'stopped' | 'crashed' | 'starting' | 'ok' | 'failing';
  /** Where its process answers; undefined before it does. */
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
