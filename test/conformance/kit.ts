import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Check } from './check.ts';
import { CHECKS } from './checks/index.ts';
import { addressOf, type Options } from './options.ts';
import { linesOf, summaryOf } from './report.ts';
import { start } from './start.ts';
import { type Result, runChecks } from './suite.ts';
import { openWrongServer, READONLY_TOKEN, TOKEN, type WrongServer } from './wrong/server.ts';

export const REVISIONS = [61, 62] as const;
/** Why a check may be left out although everything is allowed. */
export const NOT_HERE = /^not in revision|^the instance has continuous archiving/;

/** Starts and runs the suite in this process. */
export async function runSuite(
  options: Options,
  checks: readonly Check[] = CHECKS,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for await (const result of runChecks(await start(options), checks)) results.push(result);
  return results;
}

/** What failed, as it is reported; nothing when nothing did. */
export function failuresOf(results: readonly Result[]): readonly string[] {
  const failed = results.filter(({ outcome }) => outcome.kind === 'fail');
  return failed.length === 0 ? [] : [...failed.flatMap((result) => linesOf(result, [])), summaryOf(results)];
}

/** What was skipped for any other reason. */
export function skippedBut(results: readonly Result[], reasons: RegExp): readonly string[] {
  return results.flatMap(({ check, outcome }) =>
    outcome.kind === 'skip' && !reasons.test(outcome.why) ? [`${check.id}: ${outcome.why}`] : [],
  );
}

export function verdictOf(results: readonly Result[], id: string): string | undefined {
  return results.find(({ check }) => check.id === id)?.outcome.kind;
}

/** A server that is closed with the test. */
export async function openServer(...args: Parameters<typeof openWrongServer>): Promise<WrongServer> {
  const server = await openWrongServer(...args);
  onTestFinished(server.close);
  return server;
}

/** Dashboard addresses as options. */
export function at(url = '', target?: string): Pick<Options, 'address' | 'target'> {
  const address = addressOf(url, undefined);
  return target === undefined ? { address } : { address, target: addressOf(target, undefined) };
}

/** Everything is allowed. */
export function wrongOptions({ url, target }: WrongServer, where = at(url, target)): Options {
  const timing = { deadline: 10_000, poll: 1 };
  const allowed = { level: 'all', readonlyToken: READONLY_TOKEN, keyFile: makeKeyFile() } as const;
  return { ...where, ...timing, ...allowed, token: TOKEN, revision: 'auto', json: false };
}

/** A file for the key, in a folder that goes with the test. */
export function makeKeyFile(): string {
  return join(makeFolder(), 'key');
}

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
