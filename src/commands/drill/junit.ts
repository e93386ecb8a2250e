import { closeSync, openSync, realpathSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import writeFileAtomic from 'write-file-atomic';
import { UnusableFile, whyUnread } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatSeconds } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { DrillChapter, DrillRecord } from '../../report/drill/drill-report.ts';

/**
 * Throws a usage error where no JUnit file can be written, so that no drill is made for it in vain. What is
 * there stays as it is.
 */
export function refuseUnwritable(path: string): void {
  try {
    if (path === '') throw new UnusableFile('it has no name');
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.isFile() === false) throw new UnusableFile('it is not a plain file');
    // As it is written: a new file beside it, which then takes its place.
    const probe = `${there === undefined ? path : realpathSync(path)}.${process.pid}.probe`;
    closeSync(openSync(probe, 'wx'));
    rmSync(probe);
  } catch (cause) {
    throw new LifeboatError('usage.junit', notWritten(path, whyUnread(cause)), {
      hints: ['nothing was started', 'name another file with --junit FILE'],
      cause,
      exitCode: EXIT.usage,
    });
  }
}

/**
 * Writes a drill in the form of JUnit, whole or not at all, over what was there. Rejects with `output.file`.
 */
export async function writeJunit(path: string, record: DrillRecord): Promise<void> {
  try {
    await writeFileAtomic(path, junitText(record, hostname()), { mode: 0o644 });
  } catch (cause) {
    throw new LifeboatError('output.file', notWritten(path, whyUnread(cause)), {
      hints: ['the drill is over, and its record stays in its folder', 'name another file with --junit FILE'],
      cause,
    });
  }
}

function notWritten(path: string, why: string): string {
  return `the JUnit file ${show(path, 200)} cannot be written: ${why}`;
}

/** A test case and what came of it. Its name is the same in every drill, so that it can be followed. */
interface Case {
  readonly group: string;
  readonly name: string;
  readonly seconds: number;
  readonly bad?: { readonly kind: 'failure' | 'error' | 'skipped'; readonly message: string };
  readonly output?: string;
}

/**
 * A drill in the form of JUnit that Jenkins and GitLab read: one suite, a case for each run and each thing
 * that was compared. A run that did not close is an error, what was compared and differs a failure, what was
 * not played is skipped.
 */
export function junitText(record: DrillRecord, hostname: string): string {
  const cases = casesOf(record);
  const count = (kind: string) => cases.filter(({ bad }) => bad?.kind === kind).length;
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0);
  const counts = attributes({
    tests: String(cases.length),
    failures: String(count('failure')),
    errors: String(count('error')),
    skipped: String(count('skipped')),
    time: seconds.toFixed(3),
  });
  const about = attributes({
    name: `lifeboat drill ${record.scope}`,
    timestamp: record.begunAt.slice(0, 19),
    hostname,
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'lifeboat drill' })}${counts}>`,
    `  <testsuite${about}${counts}>`,
    '    <properties>',
    ...propertiesOf(record).map((given) => `      <property${attributes(given)}/>`),
    '    </properties>',
    ...cases.flatMap(linesOf),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function casesOf({ chapters, outcome, failure }: DrillRecord): Case[] {
  const cases = chapters.flatMap(chapterCases);
  const isBroken = cases.some(({ bad }) => bad !== undefined && bad.kind !== 'skipped');
  if (outcome === 'proven' || isBroken) return cases;
  // Whatever ended it, a drill that proves nothing must not look like one that does.
  const message =
    failure ?? (outcome === 'left' ? 'the drill was left before its end' : 'the drill was not proven');
  return [...cases, { group: 'drill', name: 'the drill', seconds: 0, bad: { kind: 'error', message } }];
}

function chapterCases(chapter: DrillChapter): Case[] {
  const { runbook: group, title, outcome, seconds, runIds, checks, tables } = chapter;
  if (outcome === 'unplayed')
    return [
      { group, name: title, seconds: 0, bad: { kind: 'skipped', message: 'the drill had ended before' } },
    ];
  if (outcome === 'broken') {
    const message = 'its run was not closed';
    return [{ group, name: title, seconds, bad: { kind: 'error', message } }];
  }
  const rows = tables.map(
    ({ name, rows: count, equal }): Case => ({
      group,
      name: `${title}: table ${name}`,
      seconds: 0,
      output: `${count} rows compared`,
      ...(equal ? {} : { bad: { kind: 'failure', message: `table ${name} differs from what was expected` } }),
    }),
  );
  const truths = checks.map(
    ({ what, holds }): Case => ({
      group,
      name: `${title}: ${what}`,
      seconds: 0,
      ...(holds ? {} : { bad: { kind: 'failure', message: `not true: ${what}` } }),
    }),
  );
  const isOne = outcome === 'proven' || [...rows, ...truths].some(({ bad }) => bad !== undefined);
  const run: Case = {
    group,
    name: title,
    seconds,
    output: `run ${runIds.join(', ')}`,
    ...(isOne ? {} : { bad: { kind: 'failure', message: 'nothing of it was proven' } }),
  };
  return [run, ...truths, ...rows];
}

function propertiesOf({ id, scope, revision, version, outcome, chapters }: DrillRecord) {
  const properties: [string, string][] = [
    ['drill', id],
    ['scope', scope],
    ['outcome', outcome],
    ['revision', revision],
    ['lifeboat', version],
  ];
  for (const { runbook, rtoSeconds, rpoSeconds, objectives } of chapters) {
    if (rtoSeconds !== undefined)
      properties.push([`${runbook}.rto`, measured(rtoSeconds, objectives.rtoSeconds)]);
    if (rpoSeconds !== undefined)
      properties.push([`${runbook}.rpo`, measured(rpoSeconds, objectives.rpoSeconds)]);
  }
  return properties.map(([name, value]) => ({ name, value }));
}

function measured(seconds: number, limit: number | undefined): string {
  if (limit === undefined) return formatSeconds(seconds);
  const verdict = seconds <= limit ? 'met' : 'MISSED';
  return `${formatSeconds(seconds)}, objective ${formatSeconds(limit)} ${verdict}`;
}

function linesOf({ group, name, seconds, bad, output }: Case): string[] {
  const about = { classname: `lifeboat.${group}`, name, time: seconds.toFixed(3) };
  const head = `    <testcase${attributes(about)}`;
  const inside = [
    ...(bad === undefined ? [] : [badLine(bad)]),
    ...(output === undefined ? [] : [`<system-out>${escaped(output)}</system-out>`]),
  ];
  if (inside.length === 0) return [`${head}/>`];
  return [`${head}>`, ...inside.map((line) => `      ${line}`), '    </testcase>'];
}

function badLine({ kind, message }: NonNullable<Case['bad']>): string {
  if (kind === 'skipped') return `<skipped${attributes({ message })}/>`;
  return `<${kind}${attributes({ message, type: `lifeboat.${kind}` })}>${escaped(message)}</${kind}>`;
}

function attributes(given: Readonly<Record<string, string>>): string {
  return Object.entries(given)
    .map(([name, value]) => ` ${name}="${escaped(value)}"`)
    .join('');
}

/** XML 1.0 has no form for control characters, so they are gone first. */
function escaped(text: string): string {
  return show(text, 500)
    .replace(/&/gu, '&amp;')
    .replace(/</gu, '&lt;')
    .replace(/>/gu, '&gt;')
    .replace(/"/gu, '&quot;');
}
