import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allRunbooks, findIn, OLDER } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { statePath } from '../../machines/parts/states.ts';
import { measuresOfRun, reportOf } from '../../src/commands/run/run-report.ts';
import { renderReport } from '../../src/report/render-report.ts';
import { fold } from '../../src/runner/fold.ts';
import { canonicalBody, hashOf, leafText } from '../../src/store/canonical.ts';
import type { Entry } from '../../src/store/journal.ts';
import { readRunEntry } from '../../src/store/run-entries.ts';
import { auditShow } from '../../src/store/sentence.ts';
import { buildRunView } from '../../src/view/build-run-view.ts';
import { rotateKey1 } from '../machines/rotate-key-1.ts';

/** Every recorded run of every released version, by its path below this folder. */
const HISTORIES = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.jsonl'))
  .sort();

// A version kept on purpose: what is here of it is replayed as the journals of older releases will be.
const KEPT = [rotateKey1];
const runbookOf = findIn(KEPT);

test('every version that can be loaded has recorded journals, and no other version has', () => {
  const versions = [...allRunbooks, ...OLDER, ...KEPT].map(({ id, version }) => `${id}-${version}`);
  const recorded = new Set(HISTORIES.map((path) => path.split('/')[0] ?? ''));
  expect([...recorded].toSorted()).toEqual(versions.toSorted());
});

describe.each(HISTORIES)('the recorded journal %s', (path) => {
  const lines = readFileSync(join(import.meta.dirname, path), 'utf8')
    .trimEnd()
    .split('\n');
  const entries = lines.map(entryOf);
  const started = entries.map(readRunEntry).find((entry) => entry?.type === 'run.started')?.body;
  const runbook = runbookOf(started?.runbook ?? '', started?.version ?? '') as Runbook;
  const run = {
    runId: (entries[0]?.stream ?? '').slice('run/'.length),
    instance: started?.instance ?? '',
    runbook: runbook.id,
    version: started?.version ?? '',
    ...(started?.target === undefined ? {} : { target: started.target }),
  };

  test('is complete, character by character', () => {
    expect(
      entries.map((entry) => leafText({ ...entry, body: canonicalBody(entry.body, 'the body') })),
    ).toEqual(lines);
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
  });

  test('is of a version that this program still knows', () => {
    expect(path.startsWith(`${run.runbook}-${run.version}/`)).toBe(true);
    expect(runbook.version).toBe(run.version);
  });

  test('leads this machine, event by event, to the same states as then', () => {
    const folded = fold(runbook, started?.input ?? {}, entries);
    const last = entries.findLast(({ type }) => type === 'event');
    expect(last?.body).toMatchObject({ to: statePath(folded.snapshot) });
  });

  test('has only known entries, and the audit has a sentence for each, with readable times', () => {
    expect(entries.filter((entry) => readRunEntry(entry) === undefined).map(({ type }) => type)).toEqual([]);
    for (const { text } of auditShow(entries)) expect(text).toMatch(/./);
    expect(auditShow(entries).filter(({ text }) => hasRawTime(text))).toEqual([]);
  });

  test('can be shown at each of its moments, measured and reported, without times in machine form', async () => {
    for (const [index, { at }] of entries.entries()) {
      const until = entries.slice(0, index + 1);
      const { snapshot } = fold(runbook, started?.input ?? {}, until);
      const { runId, instance } = run;
      const still = { activity: undefined, paused: undefined, prose: new Map(), now: new Date(at) };
      const view = buildRunView({ runbook, runId, instance, snapshot, entries: until, ...still });
      expect(view.runId).toBe(run.runId);
      expect(textsOf(view).filter(hasRawTime)).toEqual([]);
    }
    const measures = measuresOfRun(run.runbook, entries);
    if (measures !== undefined) expect(measures.time.totalMs).toBeGreaterThanOrEqual(0);
    const report = await reportOf(readerOf(entries), run, [], runbookOf);
    expect(JSON.stringify(report)).toContain(run.runId);
    for (const format of ['md', 'html'] as const) {
      const lines = renderReport(report, format).replaceAll(CODE, '').split('\n');
      expect(lines.filter(hasRawTime)).toEqual([]);
    }
  });
});

/** The entry of a line; its run stands here as if it were the whole log. */
function entryOf(line: string, index: number): Entry {
  const fields = JSON.parse(line) as Omit<Entry, 'index' | 'hash'>;
  return { ...fields, index, hash: hashOf({ ...fields, body: canonicalBody(fields.body, 'the body') }) };
}

/** A journal that holds one recorded run and no ledger. */
function readerOf(entries: readonly Entry[]): Parameters<typeof reportOf>[0] {
  return {
    read: async (stream) => entries.filter((entry) => entry.stream === stream),
    log: { head: async () => ({ size: entries.length, root: '', note: undefined }) },
  };
}

/** What is copied letter by letter, in either form of a report. */
const CODE = /`[^`]*`|<code>[^<]*<\/code>|<pre>[^<]*<\/pre>/g;

/** A time as programs write it, but in what is to be typed. */
function hasRawTime(text: string): boolean {
  return /\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text.replaceAll(/`[^`]*`/g, ''));
}

/** Every text of a view but the moments of a question, which each renderer tells in its own way. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const { earliest, latest, suggested, marks, lostSince, commands, ...rest } = value as Record<
    string,
    unknown
  >;
  return Object.values(rest).flatMap(textsOf);
}
